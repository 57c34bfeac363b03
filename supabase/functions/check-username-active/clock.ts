/** How often the clock is set, in milliseconds. Meanwhile it stands still. */
const TICK_MS = 50;

let clockMs = 0;
// What `performance.now()` was when the clock was set, and the timer that sets it.
let setAtMs = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** What gives up each wait, and when. */
const waits = new Map<() => void, number>();

/**
 * Reads the clock of this isolate, which nobody can set. While anything is waited for, it leaves out the
 * times in which the isolate itself stands still (no CPU, suspended).
 *
 * @returns The time in milliseconds, as it was up to 50 ago.
 */
export function now(): number {
  // The timer is off, and nobody waits: the clock catches up, pauses and all.
  if (timer === undefined) tick(Infinity);
  timer ??= setInterval(tick, TICK_MS);
  return clockMs;
}

/**
 * Waits for a promise, but only for so long.
 *
 * @param ms How long, in milliseconds by the clock. It becomes up to 100 more. Only when it begins right
 * after a pause of the isolate, before the next tick, it can become up to 150 less.
 * @param promise What to wait for. It goes on when time is up.
 * @returns What the promise gives, or nothing when that takes too long or fails. Never throws.
 */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | void> {
  return new Promise((resolve) => {
    // All waits share one timer: one for each would take a tenth of a request's CPU time. A tick more,
    // because the clock may be late by one.
    waits.set(resolve, now() + ms + TICK_MS);
    promise.then(resolve, () => resolve()).then(() => waits.delete(resolve));
  });
}

// A step that is longer than four ticks is a pause of this isolate, and counts as four.
function tick(maxStepMs = 4 * TICK_MS) {
  const readMs = performance.now();
  clockMs += Math.min(readMs - setAtMs, maxStepMs);
  setAtMs = readMs;
  for (const [giveUp, atMs] of waits) {
    if (atMs <= clockMs && waits.delete(giveUp)) giveUp();
  }
  if (waits.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
