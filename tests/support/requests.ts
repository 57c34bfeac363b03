/** Requests to a service, through `fetch` or byte by byte, and checks of the responses. */
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Expected } from "./contract.ts";

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

/** The headers that the function sets, and their values by default; null is a header not set. */
const HEADERS: Record<string, string | RegExp | null> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": null,
  "access-control-allow-headers": null,
  "access-control-max-age": null,
  "allow": null,
  "cache-control": "no-store",
};

/** Fails unless a response is this one, to the header. */
export async function assertResponse(
  response: Response | Promise<Response>,
  { status, body, headers }: Expected,
  message?: string,
): Promise<void> {
  const actual = await response;
  const text = await actual.text();
  const expected = body === null ? "" : JSON.stringify(body);
  assertEquals([actual.status, text], [status, expected], message);
  const all = { ...HEADERS, ...headers };
  if (body !== null) all["content-type"] = /^application\/json(;|$)/;
  for (const [name, expected] of Object.entries(all)) {
    const value = actual.headers.get(name);
    const what = `${name} of ${status}: ${value}`;
    if (expected instanceof RegExp) assertMatch(value ?? "", expected, what);
    else assertEquals(value, expected, what);
  }
}

/**
 * Sends a text, or several in turn, over a new connection. Returns the first piece of the response,
 * or "" if the connection ends without one. Rejects if nothing comes within a minute.
 */
export async function exchange(
  { hostname, port }: URL,
  texts: string | Iterable<string>,
): Promise<string> {
  const connection = connect(Number(port), hostname).setEncoding("utf8");
  connection.on("error", () => {});
  try {
    Readable.from(texts).pipe(connection, { end: false });
    const signal = AbortSignal.timeout(MAX_RESPONSE_MS);
    const first = ["data", "end"].map((it) => once(connection, it, { signal }));
    const [text = ""] = await Promise.race(first);
    return text;
  } finally {
    connection.destroy();
  }
}

/** Sends a text over a new connection, and hangs up. */
export async function hangUp({ hostname, port }: URL, text: string) {
  const connection = connect(Number(port), hostname).on("error", () => {});
  await new Promise((written) => connection.write(text, written));
  connection.destroy();
}

/** Returns the head of a POST, as text. */
export const postHead = (headers: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

/** Fails unless what `exchange` returned has the status and the body of this response. */
export function assertExchange(text: string, { status, body }: Expected): void {
  assert(text.startsWith(`HTTP/1.1 ${status} `), text || "no response");
  assert(text.includes(JSON.stringify(body)), text);
}
