/** A Data API that fails on demand, down to the bytes on the wire, which no real one does. */
import { Buffer } from "node:buffer";
import * as http from "node:http";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
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
  await using unfinished = new AsyncDisposableStack();
  const dataApi = unfinished.use(await listenOnLoopback(server));
  const env = platformEnv({ ...LOCAL_SERVICE, API_URL: dataApi.url });
  const edgeFunction = await startFunction({ env });
  const { url, pid, output } = unfinished.use(edgeFunction);
  return Object.assign(unfinished.move(), { url, pid, output, requests });
}

/** Waits until the function has logged `expected` lines. Returns all but Deno's own, parsed. */
export async function logged(
  { output }: { output: () => string },
  expected: number,
): Promise<Record<string, unknown>[]> {
  const lines = () => output().match(/^(?!.*Listening on).+(?=\n)/gm) ?? [];
  await waitUntil(() => lines().length >= expected, output);
  return lines().map((line) => JSON.parse(line));
}

/** Responds with a status, a body and headers. The body may depend on the product in the query. */
export function respondWith(
  status: number,
  body: string | Uint8Array | ((product: string) => string | Uint8Array),
  headers: Record<string, string> = { "Content-Type": "application/json" },
): Behaviour {
  return (response, url) => {
    const content = typeof body === "function" ? body(productOf(url)) : body;
    const bytes = Buffer.from(content);
    response.writeHead(status, { ...headers, "Content-Length": bytes.length });
    response.end(bytes);
  };
}

/** Responses of a healthy Data API: no row, and a row of the product in the query. */
export const noRow = respondWith(200, "[]");
const rowOf = (project_id: string) => JSON.stringify([{ project_id }]);
export const aRow = respondWith(200, rowOf);

/** Returns the product that a query asks for. */
export function productOf(url: string): string {
  return url.match(/[?&]project_id=eq\.([\w-]+)/)?.[1] ?? "";
}

/** Behaves in one way towards the first request, and in another towards those after it. */
export function firstThen(behaviour: Behaviour, then: Behaviour): Behaviour {
  let count = 0;
  return (response, url) => (count++ === 0 ? behaviour : then)(response, url);
}
