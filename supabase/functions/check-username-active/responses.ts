import { corsHeaders } from "@supabase/supabase-js/cors";
import type { Outcome } from "./outcome.ts";

const METHODS = "POST, OPTIONS";

const HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-store",
};
const JSON_HEADERS = { ...HEADERS, "Content-Type": "application/json" };
const PREFLIGHT_HEADERS = {
  ...HEADERS,
  // The headers that supabase-js clients send are allowed, too.
  "Access-Control-Allow-Headers": corsHeaders["Access-Control-Allow-Headers"],
  "Access-Control-Allow-Methods": METHODS,
};

/**
 * The answer to each outcome: status, body and headers of the contract's table.
 *
 * @param outcome What became of the request.
 * @returns A new response. Its body is fixed text, so it can name no table, host, key or stack.
 */
export function respond(outcome: Outcome): Response {
  switch (outcome) {
    case "active":
      return json(200, { success: true });
    case "not_found":
      return json(499, { error: "User not found for project" });
    case "lookup_failed":
      return json(500, { error: "Database error" });
    case "missing_field":
      return json(400, { error: "Missing username or project_id" });
    case "invalid_field":
      return json(400, { error: "Invalid username or project_id" });
    case "invalid_json":
      return json(400, { error: "Invalid JSON" });
    case "body_too_large":
      return json(413, { error: "Request body too large" });
    case "method_not_allowed":
      return json(405, { error: "Method not allowed" }, {
        ...JSON_HEADERS,
        Allow: METHODS,
      });
    case "preflight":
      return new Response(null, {
        status: 204,
        headers: PREFLIGHT_HEADERS,
      });
  }
}

function json(
  status: number,
  body: { success: true } | { error: string },
  headers: Record<string, string> = JSON_HEADERS,
): Response {
  return new Response(JSON.stringify(body), { status, headers });
}
