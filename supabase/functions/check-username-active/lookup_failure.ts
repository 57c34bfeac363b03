/** How a lookup failed. */
export interface LookupFailure {
  /** HTTP status of the Data API's answer, 0 when there was none. */
  status: number;
  /** The Data API's error, which may be any JSON. */
  error: { code?: unknown } | null;
  /** Whether the lookup's budget ran out. */
  timedOut: boolean;
  /** How long the lookup took, in milliseconds. */
  durationMs: number;
}

/** The form of PostgreSQL's codes and of PostgREST's. */
const CODE = /^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/;

/**
 * Logs a failed lookup as one JSON line. A line has no text that anybody sent, only a code of a
 * fixed form and numbers, so that neither a user's name nor the secret key can get into the log.
 *
 * @param failure What happened.
 */
export function logLookupFailure(failure: LookupFailure): void {
  console.error(JSON.stringify({
    event: "lookup_failed",
    code: codeOf(failure),
    status: failure.status,
    duration_ms: Math.round(failure.durationMs),
  }));
}

function codeOf({ status, error, timedOut }: LookupFailure): string {
  if (status === 0) return timedOut ? "timeout" : "unreachable";
  if (status < 300) return "malformed";
  const code = `${error?.code}`;
  return CODE.test(code) ? code : `http_${status}`;
}
