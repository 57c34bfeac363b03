/** A Data API that misbehaves on demand, down to the bytes on the wire. No real one can be made to. */
import { Buffer } from "node:buffer";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { until } from "./start_process.ts";

/** What to do with a request. */
export type Behaviour = (response: ServerResponse, url: string) => unknown;

/** Starts the function on a Data API that does what it is told. Disposing of it ends both. */
export async function startFunctionOnStub(
  behave: Behaviour,
  options: { heapMb?: number; deno?: string } = {},
) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    // A connection for each: Deno repeats what fails on one that was used before.
    response.shouldKeepAlive = false;
    behave(response, request.url ?? "");
  });
  const dataApi = await listenOnLoopback(server);
  const env = platformEnv({ ...LOCAL_SERVICE, API_URL: dataApi.url });
  const edgeFunction = await startFunction({ ...options, env });
  return {
    ...edgeFunction,
    /** Those that the Data API has had so far. */
    requests,
    async [Symbol.asyncDispose]() {
      await edgeFunction[Symbol.asyncDispose]();
      await dataApi[Symbol.asyncDispose]();
    },
  };
}

/** Waits until the function has logged so many lines, and returns all that it has logged. */
export async function loggedLines(
  { output }: { output: () => string },
  expected: number,
): Promise<string[]> {
  const lines = () =>
    output().split("\n").filter((line) =>
      line !== "" && !line.includes("Listening on")
    );
  await until(() => lines().length >= expected, output);
  return lines();
}

/** Responds with status, body and headers. The body may depend on the product that was asked for. */
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

/** Respond as a healthy Data API does: without a row, or with one of the product that was asked for. */
export const noRow = respondWith(200, "[]");
export const aRow = respondWith(
  200,
  (project_id) => JSON.stringify([{ project_id }]),
);

/** The product that a request to the Data API asks for. */
export function productOf(url: string): string {
  return url.match(/[?&]project_id=eq\.([\w-]+)/)?.[1] ?? "";
}

/** Does one thing with the first request, and another with the requests after it. */
export function first(behaviour: Behaviour, then: Behaviour): Behaviour {
  let count = 0;
  return (response, url) => (count++ === 0 ? behaviour : then)(response, url);
}
