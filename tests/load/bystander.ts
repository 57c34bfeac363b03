/** Somebody who asks while others load the function. */
import { assert } from "@std/assert";
import { ACTIVE } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";

/** How much longer a response may take under load. Without limits, it was thousands of times. */
const PATIENCE = 200;

/** Asks twenty times, and gives the median time that a 200 took, in milliseconds. */
export async function medianMs(url: URL): Promise<number> {
  const tookMs: number[] = [];
  for (let asked = 0; asked < 20; asked++) {
    const startedAt = performance.now();
    await assertAnswer(check(crypto.randomUUID(), "a", url), ACTIVE);
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs.sort((a, b) => a - b)[10] ?? NaN;
}

/** Fails when responses take far longer than without the load. */
export async function assertServed(url: URL, quietMs: number): Promise<void> {
  const loadedMs = await medianMs(url);
  const text = `${loadedMs.toFixed(1)} ms, and ${quietMs.toFixed(1)} before`;
  assert(loadedMs < PATIENCE * quietMs, text);
}
