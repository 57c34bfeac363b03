/**
 * How long lookups share a signal, in milliseconds. One for each lookup would cost a thirtieth of
 * the throughput.
 */
const SHARED_MS = 50;

/**
 * Makes a source of deadlines.
 *
 * @param ms Time until a deadline, in milliseconds.
 * @returns A function that gives a signal which aborts when the time is up, counted from its call
 * or from up to 50 ms before.
 */
export function createDeadlines(ms: number): () => AbortSignal {
  let signal: AbortSignal;
  let madeAt = -Infinity;
  return () => {
    if (performance.now() - madeAt > SHARED_MS) {
      signal = AbortSignal.timeout(ms);
      madeAt = performance.now();
    }
    return signal;
  };
}
