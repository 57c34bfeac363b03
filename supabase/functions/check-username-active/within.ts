/**
 * Waits for a promise, but only for so long.
 *
 * @param ms How long, in milliseconds.
 * @param promise What to wait for. It goes on when time is up.
 * @returns What the promise gives, or `undefined` when that takes too long.
 */
export function within<T>(ms: number, promise: Promise<T>) {
  const { promise: timeUp, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  return Promise.race([promise, timeUp]).finally(() => clearTimeout(timer));
}
