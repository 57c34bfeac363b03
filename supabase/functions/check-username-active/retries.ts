import type { PostgrestSingleResponse } from "@supabase/supabase-js";

/** How long a lookup may take, all of its attempts included, in milliseconds. */
const MAX_LOOKUP_MS = 5_000;

/**
 * When the attempts after the first one are due, in milliseconds after the first one began. The
 * last one is late, for a Data API that takes seconds to come back.
 */
const RETRY_AT_MS = [50, 500, 1_400, 2_850, 4_300];

/**
 * Longest random delay, in milliseconds, drawn once for all retries of a lookup. Without it,
 * lookups that fail together would come back together.
 */
const MAX_JITTER_MS = 250;

/**
 * What supabase-js makes of the Data API's response. Status 0: no whole response came. `undefined`:
 * no attempt had ended when time was up.
 */
export type Result = PostgrestSingleResponse<unknown> | undefined;

/** Makes one attempt, and ends it when the signal aborts. Never throws. */
type Attempt = (signal: AbortSignal) => PromiseLike<Result>;

/**
 * Makes up to six attempts, one after the other, until one succeeds, one fails for a reason that
 * will not pass, or 5 s are over. A slow attempt is waited for: another one beside it would make a
 * busy Data API busier.
 *
 * @param attempt Makes one attempt.
 * @returns The last attempt's result. If time ran out during it, the previous one's, if any.
 */
export async function retry(attempt: Attempt): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), MAX_LOOKUP_MS);
  const jitteredStart = performance.now() + MAX_JITTER_MS * Math.random();

  let lastFailure: Result;
  let result = await attempt(controller.signal);
  for (const dueMs of RETRY_AT_MS) {
    if (controller.signal.aborted || !isTransient(result)) break;
    lastFailure = result;
    const waitMs = jitteredStart + dueMs - performance.now();
    // Attempts that came due during a slow one are left out, except the last one.
    if (waitMs < 0 && dueMs !== RETRY_AT_MS.at(-1)) continue;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    result = await attempt(controller.signal);
  }
  clearTimeout(timer);
  // An attempt that ran out of time says nothing about the Data API.
  return controller.signal.aborted ? lastFailure : result;
}

/**
 * Tells whether a result is a failure that may pass. These are:
 * - silence, and a response that is not whole;
 * - a 200 whose text is not JSON, because Deno takes some cut responses for whole;
 * - 502 to 599, which gateways and PostgREST return during an outage;
 * - a 400 with an empty code, which PostgREST returns for the queries in flight when PostgreSQL
 *   crashes;
 * - a 401 `PGRST303`, which hosted projects return for a sound key now and then.
 *
 * @param result What became of an attempt, or of a lookup.
 * @returns Whether another attempt, or another connection, may have another result.
 */
export function isTransient(result: Result): boolean {
  const { status = 0, error } = result ?? {};
  return status === 0 || (status === 200 && error !== null) ||
    (status >= 502 && status < 600) ||
    (status === 400 && error?.code === "") ||
    (status === 401 && error?.code === "PGRST303");
}
