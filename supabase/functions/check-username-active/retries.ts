import type { PostgrestSingleResponse } from "@supabase/supabase-js";

/**
 * When each further attempt begins, in milliseconds after the first. The last one is as late as
 * possible, but early enough to end in time.
 */
const LAST_AT_MS = 4_350;
const RETRY_AT_MS = [100, 500, 1_200, 2_400, LAST_AT_MS];

/**
 * Maximum random delay added to each retry, in milliseconds, so that lookups that fail together do
 * not retry together.
 */
const JITTER_MS = 300;

/**
 * Whether a failure is transient: an incomplete response; 502 and above, which gateways and
 * PostgREST return during an outage; or the 400 without a code that PostgREST returns for lookups
 * in flight when PostgreSQL crashes.
 *
 * @param response What supabase-js made of an attempt. Its status is 0 when there was no whole response.
 */
export function isTransient(
  { status, error }: PostgrestSingleResponse<unknown>,
): boolean {
  return status === 0 || status >= 502 ||
    (status === 400 && error?.code === "");
}

/**
 * Retries until an attempt succeeds, or fails for good, or there is no time for another one.
 *
 * @param attempt Makes one attempt. Never throws.
 * @param response What the first attempt gave.
 * @param startedAt When that began, by `performance.now()`.
 * @param signal Aborts when time is up.
 * @returns What the last attempt gave, or the one before it when time ran out during the last.
 */
export async function retry<T extends PostgrestSingleResponse<unknown>>(
  attempt: () => PromiseLike<T>,
  response: T,
  startedAt: number,
  signal: AbortSignal,
): Promise<T> {
  for (const at of RETRY_AT_MS) {
    const passedMs = performance.now() - startedAt;
    // An attempt later than the last could not end in time.
    if (passedMs > LAST_AT_MS + JITTER_MS || !isTransient(response)) break;
    const dueInMs = at + JITTER_MS * Math.random() - passedMs;
    // After a slow failure, go on with the next attempt that is due, or at once with the last.
    if (dueInMs < 0 && at < LAST_AT_MS) continue;
    await new Promise((done) => setTimeout(done, Math.max(0, dueInMs)));
    const next = await attempt();
    // When time runs out during the last attempt, the failure before it says more.
    if (at === LAST_AT_MS && signal.aborted) break;
    response = next;
  }
  return response;
}
