/** Requests to the function, and what their responses have to be. */
import { assert, assertEquals } from "@std/assert";
import { FUNCTION_PATH } from "../../tools/project.ts";
import type { Answer } from "./answers.ts";
import { assertDescribed } from "./openapi.ts";
import { serviceUnderTest } from "./service_under_test.ts";

/** What a browser asks before a page of an in-game panel may POST JSON. */
export const PANEL_PREFLIGHT: RequestInit = {
  method: "OPTIONS",
  headers: {
    "Origin": "coui://html_ui",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "content-type",
  },
};

/**
 * Sends a request to the function.
 *
 * @param init The request. A POST, when it does not say.
 * @param url The function's address. That of the service under test, when not given.
 */
export function send(
  init: RequestInit,
  url: string | URL = serviceUnderTest().API_URL + FUNCTION_PATH,
): Promise<Response> {
  return fetch(url, { method: "POST", ...init });
}

/** Asks whether a user holds an active key of a project. */
export function check(
  project_id: string,
  username: string,
  url?: string | URL,
): Promise<Response> {
  return send({ body: JSON.stringify({ username, project_id }) }, url);
}

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
