/** How long all attempts together may take, in milliseconds. */
const MAX_TOTAL_MS = 5_000;

/**
 * When the attempts after the first one are due: milliseconds after the first one began, plus the
 * random delay. The last one is late, for a Data API that takes seconds to come back.
 */
const RETRY_AT_MS = [50, 500, 1_400, 2_850, 4_300];

/**
 * Longest random delay, in milliseconds, drawn once for all retries of a lookup. Without it,
 * lookups that fail together would come back together.
 */
const MAX_JITTER_MS = 250;

/**
 * Makes up to six attempts, one after the other, until a result is final or 5 s are over. A slow
 * attempt is waited for: another one beside it would make a busy Data API busier.
 *
 * @param attempt Makes one attempt, and ends it when the signal aborts. It must not throw.
 * @param isTransient Tells whether a result is a failure that may pass. Any other result is final.
 * @returns The last attempt's result. If time ran out during that attempt, the result of the one
 * before it, or `undefined` if it was the first.
 */
export async function retry<T>(
  attempt: (signal: AbortSignal) => PromiseLike<T>,
  isTransient: (result: T) => boolean,
): Promise<T | undefined> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), MAX_TOTAL_MS);
  const scheduleStart = performance.now() + MAX_JITTER_MS * Math.random();

  let lastFailure: T | undefined;
  let result = await attempt(controller.signal);
  for (const dueMs of RETRY_AT_MS) {
    if (controller.signal.aborted || !isTransient(result)) break;
    lastFailure = result;
    const waitMs = scheduleStart + dueMs - performance.now();
    // Attempts that came due during a slow one are left out, except the last, which begins at once.
    if (waitMs < 0 && dueMs !== RETRY_AT_MS.at(-1)) continue;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    result = await attempt(controller.signal);
  }
  clearTimeout(timer);
  // The result of an attempt that was aborted says nothing about the Data API.
  return controller.signal.aborted ? lastFailure : result;
}
