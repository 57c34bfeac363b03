/** Requests to a service, through `fetch` or byte by byte, and checks of the responses. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Expected } from "./contract.ts";
import { assertDescribed } from "./openapi.ts";

/** How long a whole response may take, in milliseconds. */
const MAX_RESPONSE_MS = 60_000;

/** Sends a request, a POST by default. Rejects if the response is not whole within a minute. */
export function send(init: RequestInit, url: string | URL): Promise<Response> {
  const signal = AbortSignal.timeout(MAX_RESPONSE_MS);
  return fetch(url, { method: "POST", signal, ...init });
}

/** Asks the function at this address whether a user holds an active key of a product. */
export function check(project_id: string, username: string, url: string | URL) {
  return send({ body: JSON.stringify({ username, project_id }) }, url);
}

/** Headers that every response has. */
const HEADERS = {
  "access-control-allow-origin": "*",
  "cache-control": "no-store",
};

/** Fails unless a response is this one, has the contract's headers, and is in `openapi.yaml`. */
export async function assertResponse(
  response: Response | Promise<Response>,
  { status, body, headers }: Expected,
  message?: string,
): Promise<void> {
  const actual = await response;
  const text = await actual.text();
  const expected = body === null ? "" : JSON.stringify(body);
  assertEquals([actual.status, text], [status, expected], message);
  for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) {
    assertEquals(actual.headers.get(name), value, `${name} of ${status}`);
  }
  assertDescribed(actual, text);
  const type = actual.headers.get("content-type") ?? "none";
  if (body !== null) assertMatch(type, /^application\/json(;|$)/);
}

/** Opens a connection to a server, lets `talk` use it, and closes it. */
export async function withConnection<Result>(
  { hostname, port }: URL,
  talk: (connection: Socket) => Promise<Result>,
): Promise<Result> {
  const connection = connect(Number(port), hostname).setEncoding("utf8");
  // An error reaches `talk` as well, when it reads or writes.
  connection.on("error", () => {});
  try {
    return await talk(connection);
  } finally {
    connection.destroy();
  }
}

/** Writes a whole text to a connection. */
export const write = (connection: Socket, text: string) =>
  new Promise<void>((resolve, reject) =>
    connection.write(text, (error) => error ? reject(error) : resolve())
  );

/** Sends a text over a new connection, and hangs up. */
export const hangUp = (url: URL, text: string) =>
  withConnection(url, (connection) => write(connection, text));

/**
 * Sends a text, or several in turn, over a new connection. Returns the first piece of the response,
 * or "" if the connection ends without one. Rejects if nothing comes within a minute.
 */
export const exchange = (url: URL, texts: string | Iterable<string>) =>
  withConnection(url, async (connection) => {
    Readable.from(texts).pipe(connection, { end: false });
    const signal = AbortSignal.timeout(MAX_RESPONSE_MS);
    const first = ["data", "end"].map((it) => once(connection, it, { signal }));
    const [text = ""] = await Promise.race(first);
    return text;
  });

/** Returns the head of a POST, as text. */
export const postHead = (headers: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

/** Fails unless what `exchange` returned has the status and the body of this response. */
export function assertExchange(text: string, { status, body }: Expected): void {
  assert(text.startsWith(`HTTP/1.1 ${status} `), text || "no response");
  assert(text.includes(JSON.stringify(body)), text);
}
