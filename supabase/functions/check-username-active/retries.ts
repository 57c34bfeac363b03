import type { PostgrestSingleResponse } from "@supabase/supabase-js";
import { leaveConnections } from "./data_api.ts";
import { within } from "./within.ts";

/** How long one lookup may take, all of its attempts included, in milliseconds. */
const BUDGET_MS = 5_000;

/**
 * When each further attempt begins, in milliseconds after the first. The last one is as late as
 * possible, but early enough to end in time.
 */
const RETRY_AT_MS = [100, 500, 1_200, 2_400, 4_350];

/** How long the first attempt may be silent before another begins beside it, in milliseconds. */
const SILENCE_MS = 1_350;

/**
 * Maximum random delay added to each of these, in milliseconds, so that lookups that fail together
 * do not retry together.
 */
const JITTER_MS = 300;

/**
 * Makes attempts until one succeeds, or fails for good, or time is up. When the first is silent,
 * another begins beside it, on fresh connections, and what responds first counts.
 *
 * @param attempt Makes one attempt, and ends it when the signal aborts. Never throws.
 * @returns What the last attempt gave, or the one before it when time is up during the last.
 */
export async function retry<T extends PostgrestSingleResponse<unknown>>(
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const passedMs = () => performance.now() - startedAt;
  const controller = new AbortController();
  const first = attempt(controller.signal);
  const jitterMs = JITTER_MS * Math.random();
  let response = await within(SILENCE_MS + jitterMs, first);
  if (response && !isTransient(response)) return response;

  const timer = setTimeout(() => controller.abort(), BUDGET_MS - passedMs());
  if (!response) leaveConnections(startedAt);
  response ??= await Promise.race([first, attempt(controller.signal)]);
  // Slow, but right: it still counts when another attempt has failed meanwhile.
  const late = new Promise<T>((resolve) => {
    first.then((response) => isTransient(response) || resolve(response));
  });
  for (const at of RETRY_AT_MS) {
    if (!isTransient(response)) break;
    // After a slow failure, go on with the next attempt that is not too late.
    if (passedMs() > at + JITTER_MS) continue;
    const pauseMs = Math.max(0, at + jitterMs - passedMs());
    await new Promise((done) => setTimeout(done, pauseMs));
    const next = await Promise.race([late, attempt(controller.signal)]);
    // When time is up during the last attempt, the failure before it says more.
    if (at === RETRY_AT_MS.at(-1) && controller.signal.aborted) break;
    response = next;
  }
  clearTimeout(timer);
  controller.abort();
  return response;
}

/**
 * Whether a failure is transient: an incomplete response; 502 and above, which gateways and
 * PostgREST return during an outage; the 400 without a code that PostgREST returns for lookups in
 * flight when PostgreSQL crashes; or the 401 "JWT issued at future" that hosted projects return for
 * a sound key now and then.
 */
function isTransient(response: PostgrestSingleResponse<unknown>): boolean {
  const { status, error } = response;
  return status === 0 || (status >= 502 && status < 600) ||
    (status === 400 && error?.code === "") ||
    (status === 401 && error?.code === "PGRST303");
}
