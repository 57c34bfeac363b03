import { corsHeaders } from "@supabase/supabase-js/cors";

// Every response has these.
const HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-store",
};

// The 405 has these.
const HEADERS_405 = { ...HEADERS, Allow: "POST, OPTIONS" };

// The response to a preflight has these.
const PREFLIGHT_HEADERS = {
  // These allow the headers that supabase-js clients send.
  ...corsHeaders,
  ...HEADERS,
  "Access-Control-Allow-Methods": HEADERS_405.Allow,
  // A day, in seconds. Without it, a page sends a preflight before nearly every request.
  "Access-Control-Max-Age": "86400",
};

// A body is fixed text, so it can name no table, host or key, and has no stack trace.
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
  if (status === 204) {
    return new Response(null, { status, headers: PREFLIGHT_HEADERS });
  }
  const headers = status === 405 ? HEADERS_405 : HEADERS;
  return Response.json(body, { status, headers });
}
