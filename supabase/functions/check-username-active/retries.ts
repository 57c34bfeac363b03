import type { PostgrestSingleResponse } from "@supabase/supabase-js";
import { now, within } from "./clock.ts";

/** How long a lookup may take, all of its attempts included, in milliseconds. */
const BUDGET_MS = 5_000;

/**
 * When another attempt may begin, in milliseconds after the first one. The last begins by 4,650, delay
 * and two ticks included, so that 300 are left for its response. It always begins: these times are so
 * far apart that the attempt before it has been silent for long enough, even if a tick came late.
 */
const RETRY_AT_MS = [50, 500, 1_400, 2_850, 4_300];

/** How much later at most, at random, so that lookups which fail together do not retry together. */
const MAX_DELAY_MS = 250;

/**
 * How long an attempt may be silent before another begins beside it, and for how long connections are
 * trusted after they were made or gave a lasting response, in milliseconds.
 */
const PATIENCE_MS = 1_250;

/** What supabase-js makes of an attempt. Its status is 0 when there was no whole response. */
export type Result = PostgrestSingleResponse<unknown>;

/** Makes one attempt, and ends it when the signal aborts. Never throws. */
type Attempt = (signal: AbortSignal) => PromiseLike<Result>;

/**
 * Connections to the Data API: their client, and when they were made or last gave a lasting response,
 * by `now()`.
 */
type Connections = { client?: Deno.HttpClient; trustedAt: number };

/** The connections that an attempt goes over which begins now, and what makes others, if it can. */
export type Pool = { current: Connections; replace(): void };

/**
 * Makes attempts, up to six, until one gets a lasting response or time is up.
 *
 * @param attempt Makes one of them.
 * @param pool The connections that they go over.
 * @returns The first lasting response, or else the last failure; nothing, when there was neither.
 */
export async function retry(attempt: Attempt, pool: Pool) {
  const controller = new AbortController();
  const { promise: end, resolve } = Promise.withResolvers<Result | void>();
  const failures: Result[] = [];
  const begin = async () => {
    const { current } = pool;
    const result = await attempt(controller.signal);
    if (!isTransient(result)) {
      current.trustedAt = now();
      resolve(result);
      // After the last one, there is nothing to wait for.
    } else if (failures.push(result) > RETRY_AT_MS.length) resolve();
  };

  const startedAt = now();
  const delayMs = MAX_DELAY_MS * Math.random();
  let begun = 0;
  let latestAt = startedAt;
  let result: Result | void = undefined;
  for (const nextMs of [...RETRY_AT_MS, BUDGET_MS]) {
    const noneUnderWay = failures.length === begun;
    if (noneUnderWay || now() - latestAt >= PATIENCE_MS) {
      // A first failure can be chance. After another, or a silence, it may be the connections.
      const isTrusted = now() - pool.current.trustedAt < PATIENCE_MS;
      if (!isTrusted && (begun > 1 || !noneUnderWay)) pool.replace();
      latestAt = now();
      begun++;
      begin();
    }
    const untilAt = startedAt + Math.min(nextMs + delayMs, BUDGET_MS);
    result = await within(untilAt - now(), end);
    if (result) break;
  }
  // There is nothing to end in the common case, and to abort would take a tenth of its CPU time.
  if (begun > 1) controller.abort();
  return result ?? failures.at(-1);
}

/**
 * Whether a result may be another one soon: an incomplete response, one of which is a 200 whose text is
 * not JSON; 502 to 599, which gateways and PostgREST return during an outage; the 400 without a code
 * that PostgREST returns for lookups in flight when PostgreSQL crashes; or the 401 "JWT issued at
 * future" that hosted projects return for a sound key now and then.
 */
function isTransient({ status, error }: Result): boolean {
  return status === 0 || (status === 200 && error !== null) ||
    (status >= 502 && status < 600) ||
    (status === 400 && error?.code === "") ||
    (status === 401 && error?.code === "PGRST303");
}
