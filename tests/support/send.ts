import { FUNCTION_PATH } from "../../tools/project.ts";
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
