/** For how long a timer can be shared after it was started, in milliseconds. */
const SHARED_MS = 50;

/** The waits of those timers, by their length in milliseconds. */
const shared = new Map<number, Set<() => void>>();

/**
 * Waits for a promise, but only for so long.
 *
 * Waits of the same length that begin together share a timer: one for each would take a tenth of a
 * request's CPU time.
 *
 * @param ms How long, in milliseconds. It becomes up to 50 more, and less by as much as the event
 * loop is held up meanwhile.
 * @param promise What to wait for. It goes on when time is up.
 * @returns What the promise gives, or `undefined` when that takes too long.
 */
export function within<T>(ms: number, promise: Promise<T>) {
  const waits = shared.get(ms) ?? new Set();
  if (!shared.has(ms)) {
    shared.set(ms, waits);
    setTimeout(() => shared.delete(ms), SHARED_MS);
    setTimeout(() => waits.forEach((giveUp) => giveUp()), ms + SHARED_MS);
  }
  return new Promise<T | void>((resolve, reject) => {
    waits.add(resolve);
    promise.then(resolve, reject).then(() => waits.delete(resolve));
  });
}
