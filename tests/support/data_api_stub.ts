/**
 * A Data API that misbehaves on demand, down to the bytes on the wire. No real one can be made to.
 */

import { platformEnv } from "../../tools/stack/local_service.ts";
import {
  type FunctionOptions,
  type FunctionProcess,
  startFunction,
} from "../../tools/stack/function_process.ts";
import { until } from "./start_process.ts";
import { bytesOf, close, isClosed, write } from "./wire.ts";

/**
 * What to do with one connection, after the head of its request has been read. It is closed
 * afterwards.
 */
export type Behaviour = (
  connection: Deno.TcpConn,
  request: string,
) => void | Promise<void>;

/** A Data API on a loopback port. Disposing of it closes the port and every connection. */
export interface DataApiStub extends AsyncDisposable {
  url: string;
  /** The head of each request so far: request line and headers. */
  requests: string[];
  /** What it does next. */
  behave: Behaviour;
}

/** Starts a Data API that does what it is told, on any free port when none is given. */
export function startDataApiStub(
  behave: Behaviour,
  port = 0,
): DataApiStub {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const connections = new Set<Deno.TcpConn>();
  const stub: DataApiStub = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    requests: [],
    behave,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of connections) close(connection);
      await served;
    },
  };

  const serve = async (connection: Deno.TcpConn) => {
    connections.add(connection);
    try {
      const head = await readHead(connection);
      if (head === "") return;
      stub.requests.push(head);
      await stub.behave(connection, head);
    } catch (error) {
      // The caller gave up, or the stub is being disposed of.
      if (!isClosed(error)) throw error;
    } finally {
      connections.delete(connection);
      close(connection);
    }
  };
  const served = (async () => {
    const serving: Promise<void>[] = [];
    for await (const connection of listener) serving.push(serve(connection));
    await Promise.all(serving);
  })();
  return stub;
}

/** Starts the function, with that Data API for its own. */
export function startFunctionOn(
  { url }: DataApiStub,
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

/** Responds with status, body and headers. The body may depend on the project that was asked for. */
export function respond(
  status: number,
  body: string | Uint8Array | ((project: string) => string),
  headers: Record<string, string> = { "Content-Type": "application/json" },
): Behaviour {
  return async (connection, request) => {
    const content = typeof body === "function"
      ? body(projectOf(request))
      : body;
    await write(connection, head(status, content, headers));
    await write(connection, content);
  };
}

/** Responds with rows, as a healthy Data API does. */
export function rows(...found: unknown[]): Behaviour {
  return respond(200, JSON.stringify(found));
}

/** Responds with keys of the project that was asked for, as a healthy Data API does. */
export function keys(count = 1, status = 200): Behaviour {
  return respond(
    status,
    (project_id) => JSON.stringify(Array(count).fill({ project_id })),
  );
}

/** The project that a request to the Data API asks for. */
export function projectOf(request: string): string {
  return request.match(/[?&]project_id=eq\.([\w-]+)/)?.[1] ?? "";
}

/** Head of a response that declares the body's whole length. */
export function head(
  status: number,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): string {
  const lines = Object.entries({
    ...headers,
    "Content-Length": `${bytesOf(body).length}`,
    "Connection": "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

/** Waits until the caller closes the connection. */
export async function hang(connection: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(1024);
  while (await connection.read(buffer) !== null);
}

/** Ends the connection at once, without a response. */
export function drop(): void {}

/** Does one thing with the first connection, and another with those after it. */
export function first(behaviour: Behaviour, then: Behaviour): Behaviour {
  let count = 0;
  return (connection, request) =>
    (count++ === 0 ? behaviour : then)(connection, request);
}

async function readHead(connection: Deno.TcpConn): Promise<string> {
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const length = await connection.read(buffer);
    if (length === null) return "";
    text += new TextDecoder().decode(buffer.subarray(0, length));
  }
  return text;
}
