import type { PostgrestSingleResponse } from "@supabase/supabase-js";

/** How long a lookup may take, all of its attempts included, in milliseconds. */
const MAX_LOOKUP_MS = 5_000;

/**
 * When the attempts after the first one begin, in milliseconds after it. The last is late, so that a
 * Data API that is back by then still counts.
 */
const RETRY_AT_MS = [50, 500, 1_400, 2_850, 4_300];

/**
 * How much later they begin at most, in milliseconds. Each lookup chooses at random: without that,
 * lookups that fail together would come back together.
 */
const MAX_DELAY_MS = 250;

/**
 * What supabase-js makes of the Data API's response. Its status is 0 when there was no whole one.
 * Nothing, when the Data API was silent until time was up.
 */
export type Result = PostgrestSingleResponse<unknown> | undefined;

/** Makes one attempt, and ends it when the signal aborts. Never throws. */
type Attempt = (signal: AbortSignal) => PromiseLike<Result>;

/**
 * Makes up to six attempts, one after the other, until one has a result that lasts or 5 s are over. A
 * slow attempt is waited for: another one beside it would make a busy Data API busier.
 *
 * @param attempt Makes one of them.
 * @returns The first result that lasts, or else the last failure.
 */
export async function retry(attempt: Attempt): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), MAX_LOOKUP_MS);
  const startedAt = performance.now() + MAX_DELAY_MS * Math.random();

  let failure: Result;
  let result = await attempt(controller.signal);
  for (const atMs of RETRY_AT_MS) {
    if (controller.signal.aborted || !isTransient(result)) break;
    failure = result;
    const waitMs = startedAt + atMs - performance.now();
    // After a slow failure, some of the times have passed. The last attempt begins all the same.
    if (waitMs < 0 && atMs !== RETRY_AT_MS.at(-1)) continue;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    result = await attempt(controller.signal);
  }
  clearTimeout(timer);
  // The result of an attempt that was aborted says nothing about the Data API.
  return controller.signal.aborted ? failure : result;
}

/**
 * Tells whether a failure may pass, so that it is worth another attempt or other connections.
 *
 * @param result What became of an attempt or of a lookup.
 * @returns Whether it is a silence; no whole response, or a 200 whose text is not JSON, because Deno takes
 * some cut responses for whole; 502 to 599, which gateways and PostgREST return during an outage; the
 * 400 without a code that PostgREST returns for lookups in flight when PostgreSQL crashes; or the 401
 * "JWT issued at future" that hosted projects return for a sound key now and then.
 */
export function isTransient(result: Result): boolean {
  const { status = 0, error = null } = result ?? {};
  return status === 0 || (status === 200 && error !== null) ||
    (status >= 502 && status < 600) ||
    (status === 400 && error?.code === "") ||
    (status === 401 && error?.code === "PGRST303");
}
