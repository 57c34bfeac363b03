import { corsHeaders } from "@supabase/supabase-js/cors";

const METHODS = "POST, OPTIONS";

/** The headers of every response. */
const HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-store",
};

const error = (status: number, error: string, headers = {}) => ({
  status,
  body: { error },
  headers,
});

// Each body is fixed text, so it can name no table, host or key, and has no stack trace.
const RESPONSES = {
  active: { status: 200, body: { success: true }, headers: {} },
  not_found: error(499, "User not found for project"),
  lookup_failed: error(500, "Database error"),
  missing_field: error(400, "Missing username or project_id"),
  invalid_field: error(400, "Invalid username or project_id"),
  invalid_json: error(400, "Invalid JSON"),
  request_timeout: error(408, "Request timeout"),
  body_too_large: error(413, "Request body too large"),
  method_not_allowed: error(405, "Method not allowed", { Allow: METHODS }),
  preflight: {
    status: 204,
    body: null,
    headers: {
      ...corsHeaders, // Has the headers that supabase-js clients send.
      "Access-Control-Allow-Methods": METHODS,
      // A day, in seconds. Without it, a page sends a preflight before nearly every request.
      "Access-Control-Max-Age": "86400",
    },
  },
};

/** What became of a request: the name of its response. */
export type Outcome = keyof typeof RESPONSES;

/** Makes a new response for an outcome. */
export function respond(outcome: Outcome): Response {
  const { status, body, headers } = RESPONSES[outcome];
  const init = { status, headers: { ...HEADERS, ...headers } };
  return body ? Response.json(body, init) : new Response(null, init);
}
