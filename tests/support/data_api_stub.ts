/** A Data API that fails on demand, down to the bytes on the wire, which no real one does. */
import { Buffer } from "node:buffer";
import * as http from "node:http";
import { assert, assertEquals } from "@std/assert";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { waitUntil } from "./processes.ts";

/** What the Data API does with a request for this path and query. */
export type Behaviour = (response: http.ServerResponse, url: string) => unknown;

/**
 * Starts the function and a Data API for it that behaves as it is told. Returns the function and
 * the requests that the Data API has received. Disposing of the result ends both.
 */
export async function startFunctionOnStub(behave: Behaviour) {
  const requests: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    // One request per connection: Deno repeats a request that fails on a used one.
    response.shouldKeepAlive = false;
    behave(response, request.url ?? "");
  });
  await using started = new AsyncDisposableStack();
  const dataApi = started.use(await listenOnLoopback(server));
  const edgeFunction = started.use(await startFunction(dataApi.url));
  const { url, pid, output } = edgeFunction;
  return Object.assign(started.move(), { url, pid, output, requests });
}

/**
 * Waits until the function has logged `expected` lines after the first `from` characters of its
 * output. Returns them, as `<code> <status>`. Throws if one is not the line of a failed lookup.
 */
export async function logged(output: () => string, expected: number, from = 0) {
  // Lines that have ended, but not Deno's "Listening on".
  const lines = () =>
    output().slice(from).match(/^(?!.*Listening on).+(?=\n)/gm) ?? [];
  await waitUntil(() => lines().length >= expected, output);
  return lines().map((line) => {
    const { event, code, status, duration_ms, ...rest } = JSON.parse(line);
    assertEquals([event, rest], ["lookup_failed", {}]);
    assert(Number.isInteger(duration_ms) && duration_ms >= 0, line);
    return `${code} ${status}`;
  });
}

/** The row of a key of the product that the query asks for. */
export const ROW = '{"project_id":"<product>"}';

/** Responds with a status, a body and headers. `<product>` becomes the query's product. */
export function respondWith(
  status: number,
  body: string,
  headers: Record<string, string> = { "Content-Type": "application/json" },
): Behaviour {
  return (response, url) => {
    const bytes = Buffer.from(body.replaceAll("<product>", productOf(url)));
    response.writeHead(status, { ...headers, "Content-Length": bytes.length });
    response.end(bytes);
  };
}

/** Responses of a healthy Data API. */
export const noRow = respondWith(200, "[]");
export const aRow = respondWith(200, `[${ROW}]`);

/** Returns the product that a query asks for. */
export function productOf(url: string): string {
  return url.match(/[?&]project_id=eq\.([\w-]+)/)?.[1] ?? "";
}
