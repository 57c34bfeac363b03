import { assertEquals, assertMatch } from "@std/assert";
import type { Expected } from "./contract.ts";

/** Sends a request, a POST by default. Rejects if the response is not whole within a minute. */
export function sendTo(url: string | URL, init: RequestInit) {
  const signal = AbortSignal.timeout(60_000);
  return fetch(url, { method: "POST", signal, ...init });
}

/** Asks the function at this address whether a user holds an active key of a product. */
export const checkAt = (url: string | URL, project_id: string, user: string) =>
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

/** Fails unless a response has this status, this body, and `HEADERS` overridden by `headers`. */
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
    const what = `${name} of ${status}: ${value}`;
    if (wanted instanceof RegExp) assertMatch(value ?? "", wanted, what);
    else assertEquals(value, wanted, what);
  }
}
