/** The responses of the contract. */
import { corsHeaders } from "@supabase/supabase-js/cors";

const METHODS = "POST, OPTIONS";

// The headers of every response.
const HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-store",
};

const error = (status: number, error: string) => ({ status, body: { error }, headers: {} });

// The responses of README.md's "The contract". Each body is fixed text, so that no response can
// contain the name of a table or a host, a key, or a stack trace.
const RESPONSES = {
  active: { status: 200, body: { success: true }, headers: {} },
  not_found: error(499, "User not found for project"),
  lookup_failed: error(500, "Database error"),
  missing_field: error(400, "Missing username or project_id"),
  invalid_field: error(400, "Invalid username or project_id"),
  invalid_json: error(400, "Invalid JSON"),
  request_timeout: error(408, "Request timeout"),
  body_too_large: error(413, "Request body too large"),
  method_not_allowed: { ...error(405, "Method not allowed"), headers: { Allow: METHODS } },
  preflight: {
    status: 204,
    body: null,
    headers: {
      // Request headers are ignored, so all are allowed. `*` does not cover `Authorization`, and
      // older browsers do not know it. So the list that comes with supabase-js stands before it.
      "Access-Control-Allow-Headers": `${corsHeaders["Access-Control-Allow-Headers"]}, *`,
      "Access-Control-Allow-Methods": METHODS,
      // A day, in seconds. Without it, a page sends a preflight before nearly every request.
      "Access-Control-Max-Age": "86400",
    },
  },
};

/** The name of a response: what became of a request. */
export type ResponseName = keyof typeof RESPONSES;

/** Makes a new `Response` of this name, with its status, its headers and its JSON. */
export function respond(name: ResponseName): Response {
  const { status, body, headers } = RESPONSES[name];
  const init = { status, headers: { ...HEADERS, ...headers } };
  return body ? Response.json(body, init) : new Response(null, init);
}
