/** Requests to an edge function, and what a test expects of a response. */
import { assertEquals, assertMatch } from "@std/assert";
import type { Expected } from "./contract.ts";

/**
 * For tests that send a request of their own: a POST by default. Rejects if the response has not
 * begun within a minute.
 */
export function sendTo(url: string | URL, init: RequestInit) {
  const signal = AbortSignal.timeout(60_000);
  return fetch(url, { method: "POST", signal, ...init });
}

/** For tests that ask a function at an address whether a user holds an active key of a product. */
export const askAt = (url: string | URL, project_id: string, user: string) =>
  sendTo(url, { body: JSON.stringify({ username: user, project_id }) });

/** The headers that the function sets, and their values by default; null is a header not set. */
const HEADERS: Record<string, string | RegExp | null> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": null,
  "access-control-allow-headers": null,
  "access-control-max-age": null,
  "allow": null,
  "cache-control": "no-store",
};

/**
 * For tests of a whole response: fails unless it has this status, this body, and the headers of
 * every response, overridden by `headers`.
 */
export async function assertResponse(
  response: Response | Promise<Response>,
  { status, body, headers }: Expected,
): Promise<void> {
  const actual = await response;
  const text = await actual.text();
  const expected = body === null ? "" : JSON.stringify(body);
  assertEquals([actual.status, text], [status, expected]);
  const all = { ...HEADERS, ...headers };
  if (body !== null) all["content-type"] = /^application\/json(;|$)/;
  for (const [name, wanted] of Object.entries(all)) {
    const value = actual.headers.get(name);
    const message = `${name} of ${status}: ${value}`;
    if (wanted instanceof RegExp) assertMatch(value ?? "", wanted, message);
    else assertEquals(value, wanted, message);
  }
}
