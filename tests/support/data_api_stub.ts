/** A Data API that misbehaves on demand, down to the bytes on the wire. No real one can be made to. */
import { Buffer } from "node:buffer";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { listenOnLoopback } from "../../tools/loopback.ts";
import {
  type FunctionOptions,
  type FunctionProcess,
  startFunction,
} from "../../tools/stack/function_process.ts";
import { platformEnv } from "../../tools/stack/local_service.ts";
import { until } from "./start_process.ts";

/** What to do with a request. */
export type Behaviour = (response: ServerResponse, url: string) => unknown;

/** Starts a Data API that does what it is told. Disposing of it ends it, and every connection. */
export async function startDataApiStub(behave: Behaviour) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    // A connection for each: Deno repeats what fails on one that was used before.
    response.shouldKeepAlive = false;
    stub.behave(response, request.url ?? "");
  });
  const stub = {
    ...await listenOnLoopback(server),
    /** Those so far. */
    requests,
    /** What it does next. */
    behave,
  };
  return stub;
}

/** Starts the function, with that Data API for its own. */
export function startFunctionOn(
  { url }: { url: string },
  { SECRET_KEY = "unused", ...options }: Pick<FunctionOptions, "heapMb"> & {
    SECRET_KEY?: string;
  } = {},
): Promise<FunctionProcess> {
  return startFunction({
    ...options,
    env: platformEnv({ API_URL: url, SECRET_KEY, PUBLISHABLE_KEY: "unused" }),
  });
}

/**
 * Gives the lines that the function has logged. They come through a pipe, so as many as are expected
 * are waited for.
 */
export async function linesOf(
  { output }: FunctionProcess,
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
export function respond(
  status: number,
  body: string | Uint8Array | ((product: string) => string),
  headers: Record<string, string> = { "Content-Type": "application/json" },
): Behaviour {
  return (response, url) => {
    const content = typeof body === "function" ? body(productOf(url)) : body;
    const bytes = Buffer.from(content);
    response.writeHead(status, { ...headers, "Content-Length": bytes.length });
    response.end(bytes);
  };
}

/** Responds with rows, as a healthy Data API does. */
export function rows(...found: unknown[]): Behaviour {
  return respond(200, JSON.stringify(found));
}

/** Responds with keys of the product that was asked for, as a healthy Data API does. */
export function keys(count = 1, status = 200): Behaviour {
  return respond(
    status,
    (project_id) => JSON.stringify(Array(count).fill({ project_id })),
  );
}

/** The product that a request to the Data API asks for. */
export function productOf(url: string): string {
  return url.match(/[?&]project_id=eq\.([\w-]+)/)?.[1] ?? "";
}

/** Does one thing with the first request, and another with those after it. */
export function first(behaviour: Behaviour, then: Behaviour): Behaviour {
  let count = 0;
  return (response, url) => (count++ === 0 ? behaviour : then)(response, url);
}
