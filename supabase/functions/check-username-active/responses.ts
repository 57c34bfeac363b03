import { corsHeaders } from "@supabase/supabase-js/cors";

const ALLOWED_METHODS = "POST, OPTIONS";

/** The headers that supabase-js clients send. */
const ALLOWED_HEADERS = corsHeaders["Access-Control-Allow-Headers"] ?? "";

/** The headers of every response. */
const HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-store",
};

/** Further headers, by the status of the response. */
const MORE_HEADERS: Record<number, Record<string, string>> = {
  204: {
    "Access-Control-Allow-Methods": ALLOWED_METHODS,
    "Access-Control-Allow-Headers": ALLOWED_HEADERS,
    // A day, in seconds. Without it, a page sends a preflight before nearly every request.
    "Access-Control-Max-Age": "86400",
  },
  405: { Allow: ALLOWED_METHODS },
};

// Each body is fixed text, so it can name no table, host or key, and has no stack trace.
const RESPONSES = {
  active: { status: 200, success: true },
  not_found: { status: 499, error: "User not found for project" },
  lookup_failed: { status: 500, error: "Database error" },
  missing_field: { status: 400, error: "Missing username or project_id" },
  invalid_field: { status: 400, error: "Invalid username or project_id" },
  invalid_json: { status: 400, error: "Invalid JSON" },
  request_timeout: { status: 408, error: "Request timeout" },
  body_too_large: { status: 413, error: "Request body too large" },
  method_not_allowed: { status: 405, error: "Method not allowed" },
  preflight: { status: 204 },
};

/**
 * Makes the response for an outcome.
 *
 * @param outcome What became of the request: the name of its response.
 * @returns A new response.
 */
export function respond(outcome: keyof typeof RESPONSES): Response {
  const { status, ...body } = RESPONSES[outcome];
  const init = { status, headers: { ...HEADERS, ...MORE_HEADERS[status] } };
  return status === 204 ? new Response(null, init) : Response.json(body, init);
}
