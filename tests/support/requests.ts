/** Requests to the function, and checks of its responses. */
import { assertEquals, assertMatch } from "@std/assert";
import type { Expected } from "./contract.ts";
import { assertDescribed } from "./openapi.ts";

/** Sends a request, a POST by default, to the function at this address. */
export function send(init: RequestInit, url: string | URL): Promise<Response> {
  return fetch(url, { method: "POST", ...init });
}

/** Asks the function at this address whether a user holds an active key of a product. */
export function check(
  project_id: string,
  username: string,
  url: string | URL,
): Promise<Response> {
  return send({ body: JSON.stringify({ username, project_id }) }, url);
}

/** Headers that every response has. */
const HEADERS = {
  "access-control-allow-origin": "*",
  "cache-control": "no-store",
};

/**
 * Fails unless the response has this status, this body and every header of the contract; and unless
 * `openapi.yaml` describes it.
 */
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
