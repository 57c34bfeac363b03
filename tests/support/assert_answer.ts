import { assert, assertEquals } from "@std/assert";
import type { Answer } from "./answers.ts";
import { assertDescribed } from "./openapi.ts";

/**
 * Fails unless the response is this answer: status, body and every header of the contract; and
 * unless `openapi.yaml` describes it.
 */
export async function assertAnswer(
  response: Response | Promise<Response>,
  { status, body, headers = {} }: Answer,
  message?: string,
): Promise<void> {
  const actual = await response;
  const text = await actual.text();
  assertEquals(
    [actual.status, text],
    [status, body === null ? "" : JSON.stringify(body)],
    message,
  );
  const expected: Record<string, string> = {
    "access-control-allow-origin": "*",
    "cache-control": "no-store",
    ...headers,
  };
  for (const [name, value] of Object.entries(expected)) {
    assertEquals(actual.headers.get(name), value, `${name} of ${status}`);
  }
  assertDescribed(actual, text);
  if (body === null) return;
  const type = actual.headers.get("content-type") ?? "none";
  assert(/^application\/json(;|$)/.test(type), `Content-Type is ${type}`);
}
