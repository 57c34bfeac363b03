import type { PostgrestSingleResponse } from "@supabase/supabase-js";
import { leaveConnections } from "./data_api.ts";
import { within } from "./within.ts";

/** How long one lookup may take, all of its attempts included, in milliseconds. */
const BUDGET_MS = 5_000;

/**
 * When each further attempt may begin, in milliseconds after the first. One whose time passes while
 * another is waited for is left out. The last is as late as possible, but early enough to end in time.
 */
const RETRY_AT_MS = [100, 500, 1_350, 2_300, 4_300];

/**
 * Maximum random delay before each further attempt, in milliseconds, plus up to 50, so that lookups
 * that fail together do not retry together.
 */
const JITTER_MS = 300;

/** How long an attempt may be silent before another begins beside it, in milliseconds, plus up to 50. */
const SILENCE_MS = 1_300;

/** What supabase-js makes of an attempt. Its status is 0 when there was no whole response. */
type Result = PostgrestSingleResponse<unknown>;

/** Makes one attempt, and ends it when the signal aborts. Never throws. */
type Attempt = (signal: AbortSignal) => Promise<Result>;

/**
 * Makes attempts, up to six, until one succeeds, or fails for good, or time is up. One that is silent
 * goes on, but the next begins beside it, on fresh connections.
 *
 * @param attempt Is made up to six times.
 * @returns What the deciding attempt gave, or the last failure, or else that time was up.
 */
export async function retry(attempt: Attempt): Promise<Result> {
  const calledAt = Date.now();
  const controller = new AbortController();
  const first = attempt(controller.signal);
  let failure = await within(SILENCE_MS, first);
  if (failure && !isTransient(failure)) return failure;

  // From here on by a clock that nobody sets: not before, because to read it takes 4 % of a request
  // at Deno 2.1.
  const firstMs = Math.min(Math.max(0, Date.now() - calledAt), SILENCE_MS);
  const startedAt = performance.now() - firstMs;
  const passedMs = () => performance.now() - startedAt;
  if (!failure) leaveConnections(passedMs());
  setTimeout(() => controller.abort(), BUDGET_MS - passedMs());
  const { promise: decision, resolve } = Promise.withResolvers<Result>();
  const follow = async (pending: Promise<Result>) => {
    const result = await pending;
    if (!isTransient(result)) resolve(result);
    else if (!controller.signal.aborted) failure = result;
    return result;
  };
  const attempts = [follow(first)];
  for (const at of RETRY_AT_MS) {
    // After a slow failure, go on with the next attempt that is not too late.
    if (passedMs() > at + JITTER_MS) continue;
    const pauseMs = Math.max(0, at - passedMs()) + JITTER_MS * Math.random();
    if (await within(pauseMs, decision)) break;
    const next = follow(attempt(controller.signal));
    attempts.push(next);
    const heard = await within(SILENCE_MS, Promise.race([decision, next]));
    if (!heard) leaveConnections(passedMs());
  }
  // Without a failure, time was up for all of them.
  Promise.all(attempts).then(async () => resolve(failure ?? await first));
  return await decision.finally(() => controller.abort());
}

/**
 * Whether a failure is transient: an incomplete response; 502 and above, which gateways and
 * PostgREST return during an outage; the 400 without a code that PostgREST returns for lookups in
 * flight when PostgreSQL crashes; or the 401 "JWT issued at future" that hosted projects return for
 * a sound key now and then.
 */
function isTransient({ status, error }: Result): boolean {
  return status === 0 || (status >= 502 && status < 600) ||
    (status === 400 && error?.code === "") ||
    (status === 401 && error?.code === "PGRST303");
}
