/** How long lookups share a signal, in milliseconds: one for each of them would cost more. */
const SHARED_MS = 50;

/**
 * Makes a source of deadlines.
 *
 * @param ms Time until a deadline, in milliseconds.
 * @returns A function that gives a signal which aborts when the time is up, counted from its call
 * or from up to 50 ms before.
 */
export function createDeadlines(ms: number): () => AbortSignal {
  let signal: AbortSignal | undefined;
  return () => {
    if (!signal) setTimeout(() => signal = undefined, SHARED_MS);
    return signal ??= AbortSignal.timeout(ms);
  };
}
