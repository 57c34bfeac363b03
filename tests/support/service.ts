import { assert, assertEquals } from "@std/assert";
import { FUNCTION_PATH } from "../../tools/project.ts";
import type { Service } from "../../tools/stack/local_service.ts";
import { assertDescribed } from "./openapi.ts";

/**
 * The service under test: the local stack, `supabase start` or a deployed project. Whoever starts
 * the tests says which, by environment variables.
 */
export const service: Service = {
  API_URL: variable("API_URL"),
  PUBLISHABLE_KEY: variable("PUBLISHABLE_KEY"),
  SECRET_KEY: variable("SECRET_KEY"),
};

function variable(name: string): string {
  const value = Deno.env.get(name);
  if (value) return value;
  throw new Error(
    `${name} is not set. Run these tests by a task: deno task test --filter "<name>"`,
  );
}

/** An answer of the contract, but for the headers that every answer carries. */
export interface Answer {
  status: number;
  body: { success: true } | { error: string } | null;
  headers?: Record<string, string>;
}

export const ACTIVE: Answer = { status: 200, body: { success: true } };
export const NOT_FOUND: Answer = {
  status: 499,
  body: { error: "User not found for project" },
};
export const DATABASE_ERROR: Answer = {
  status: 500,
  body: { error: "Database error" },
};
export const MISSING: Answer = {
  status: 400,
  body: { error: "Missing username or project_id" },
};
export const INVALID: Answer = {
  status: 400,
  body: { error: "Invalid username or project_id" },
};
export const INVALID_JSON: Answer = {
  status: 400,
  body: { error: "Invalid JSON" },
};
export const TOO_LARGE: Answer = {
  status: 413,
  body: { error: "Request body too large" },
};
export const METHOD_NOT_ALLOWED: Answer = {
  status: 405,
  body: { error: "Method not allowed" },
  headers: { "allow": "POST, OPTIONS" },
};
export const PREFLIGHT: Answer = { status: 204, body: null };

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
  url: string | URL = service.API_URL + FUNCTION_PATH,
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

/** A project of its own for one test. Disposing of it removes the keys that were issued here. */
export interface Project extends AsyncDisposable {
  id: string;
}

/**
 * Issues keys of a new project, through the Data API.
 *
 * @param users The current user of each key; null for a key that nobody has used yet.
 * @param id The new project's id.
 */
export async function issueKeys(
  users: (string | null)[],
  id: string = crypto.randomUUID(),
): Promise<Project> {
  const keys = users.map((curr_user) => ({
    id: crypto.randomUUID(),
    project_id: id,
    curr_user,
  }));
  await dataApi("POST", "", keys);
  const ids = keys.map((key) => key.id).join(",");
  return {
    id,
    // By key, not by project: a deployed service may hold keys of a project with that id.
    [Symbol.asyncDispose]: () => dataApi("DELETE", `?id=in.(${ids})`),
  };
}

/** Changes or removes keys as the operator's own back end does: with the secret key. */
export async function dataApi(
  method: "POST" | "PATCH" | "DELETE",
  search: string,
  body?: unknown,
): Promise<void> {
  const response = await fetch(
    `${service.API_URL}/rest/v1/activation_keys${search}`,
    {
      method,
      headers: {
        "apikey": service.SECRET_KEY,
        "Content-Type": "application/json",
      },
      body: JSON.stringify(body),
    },
  );
  const text = await response.text();
  assert(response.ok, `${method} ${search}: ${response.status} ${text}`);
}
