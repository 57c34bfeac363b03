import { corsHeaders } from "@supabase/supabase-js/cors";

// Headers of all responses, of those with a body, and of the 405.
const ALL = { "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store" };
const JSON_HEADERS = { ...ALL, "Content-Type": "application/json" };
const ALLOW_HEADERS = { ...JSON_HEADERS, Allow: "POST, OPTIONS" };

/** Status, body, and the headers if they are not those of JSON. */
type Content = [number, string | null, Record<string, string>?];

// A body is fixed text, so it can name no table, host, key or stack.
const RESPONSES = {
  active: [200, '{"success":true}'],
  not_found: [499, '{"error":"User not found for project"}'],
  lookup_failed: [500, '{"error":"Database error"}'],
  missing_field: [400, '{"error":"Missing username or project_id"}'],
  invalid_field: [400, '{"error":"Invalid username or project_id"}'],
  invalid_json: [400, '{"error":"Invalid JSON"}'],
  request_timeout: [408, '{"error":"Request timeout"}'],
  body_too_large: [413, '{"error":"Request body too large"}'],
  method_not_allowed: [405, '{"error":"Method not allowed"}', ALLOW_HEADERS],
  preflight: [204, null, {
    // The headers that supabase-js clients send are allowed, too.
    ...corsHeaders,
    ...ALL,
    "Access-Control-Allow-Methods": ALLOW_HEADERS.Allow,
    // A day, in seconds: otherwise each JSON request of a page costs two.
    "Access-Control-Max-Age": "86400",
  }],
} satisfies Record<string, Content>;

/** How a request ends: one name for each response. */
export type Outcome = keyof typeof RESPONSES;

/**
 * Makes the response for an outcome.
 *
 * @param outcome What became of the request.
 * @returns A new response.
 */
export function respond(outcome: Outcome): Response {
  const [status, body, headers = JSON_HEADERS]: Content = RESPONSES[outcome];
  return new Response(body, { status, headers });
}
