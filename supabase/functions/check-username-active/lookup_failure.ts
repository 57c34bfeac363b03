import type { PostgrestSingleResponse } from "@supabase/supabase-js";

/** The form of PostgreSQL's codes and of PostgREST's. */
const CODE = /^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/;

/**
 * Logs a failed lookup as one JSON line. The line has no text that anybody sent, only a code of a
 * fixed form and numbers, so neither a user's name nor the secret key can get into the log.
 *
 * @param answer What supabase-js made of the Data API's answer. Its status is 0 when there was no
 * whole one.
 * @param timedOut Whether the lookup's budget ran out.
 * @param durationMs How long the lookup took, in milliseconds.
 */
export function logLookupFailure(
  answer: PostgrestSingleResponse<unknown>,
  timedOut: boolean,
  durationMs: number,
): void {
  console.error(JSON.stringify({
    event: "lookup_failed",
    code: codeOf(answer, timedOut),
    status: answer.status,
    duration_ms: Math.round(durationMs),
  }));
}

function codeOf(
  { status, error }: PostgrestSingleResponse<unknown>,
  timedOut: boolean,
): string {
  if (status === 0) return timedOut ? "timeout" : "unreachable";
  if (status < 300) return "malformed";
  // The error may be any JSON, whatever its type says.
  const code: unknown = error?.code;
  return typeof code === "string" && CODE.test(code) ? code : `http_${status}`;
}
