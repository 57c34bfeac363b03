import * as z from "zod/mini";
import type { Result } from "./data_api.ts";

/** The form of PostgreSQL's codes and of PostgREST's. */
const Code = z.string().check(z.regex(/^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/));

/**
 * Logs a failed lookup as one JSON line. From a response, it takes the status, and the code if it
 * has the form of PostgreSQL's or PostgREST's; never a message.
 *
 * @param failure The last failure of the lookup. `undefined`: time ran out in the first attempt.
 * @param duration_ms How long it took, in milliseconds.
 */
export function logLookupFailure(
  failure: Result | undefined,
  duration_ms: number,
): void {
  const { status = 0, error } = failure ?? {};
  // 0: no whole response. 200: no sound list of rows.
  const kinds: Record<number, string> = { 0: "unreachable", 200: "malformed" };
  const kind = !failure ? "timeout" : kinds[status] ?? `http_${status}`;
  // The error may be any JSON, whatever its type says.
  const code = Code.safeParse(error?.code).data ?? kind;
  const line = { event: "lookup_failed", code, status, duration_ms };
  console.error(JSON.stringify(line));
}
