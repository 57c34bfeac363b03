/** The attempts of a lookup, in exact time. Which failures get another one: `faults_test.ts`. */
import FakeTimers from "@sinonjs/fake-timers";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { retry } from "../../supabase/functions/check-username-active/retries.ts";
import { LIMITS } from "../support/contract.ts";

/** Least milliseconds from the first attempt to the last. */
const LAST_ATTEMPT_MS = 4_200;

/** What the Data API does with an attempt: its result, and after how many milliseconds. */
type Behaviour = { result: "final" | "failed"; afterMs: number };

const failed = (afterMs: number): Behaviour => ({ result: "failed", afterMs });

/** An attempt: when it began, whether another one was under way, and its result. */
type Attempt = { at: number; overlaps: boolean; result?: Result };
type Result = Behaviour["result"] | "aborted";

/**
 * Begins lookups together, and lets time pass until they have ended. The nth attempt gets the nth
 * behaviour; further ones get the last. Meanwhile, the wall clock is set: that changes nothing.
 */
async function lookUp(count: number, behaviours: Behaviour[]) {
  const time = FakeTimers.install({
    now: 1e12,
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  using _time = { [Symbol.dispose]: () => time.uninstall() };
  const lookups = Array.from({ length: count }, async () => {
    const attempts: Attempt[] = [];
    const result = await retry(
      (signal) => makeAttempt(attempts, behaviours, signal),
      (result) => result !== "final",
    );
    const endedAt = performance.now();
    return { attempts, result, endedAt, timersLeft: time.countTimers() };
  });
  for (const wallClockMs of [1e13, 0, 1e13]) {
    time.setSystemTime(wallClockMs);
    await time.tickAsync(LIMITS.lookupMs / 2); // 7.5 s in all.
  }
  return await Promise.all(lookups);
}

async function makeAttempt(
  attempts: Attempt[],
  behaviours: Behaviour[],
  signal: AbortSignal,
): Promise<Result> {
  const behaviour = (behaviours[attempts.length] ?? behaviours.at(-1))!;
  const overlaps = attempts.some(({ result }) => !result);
  const current: Attempt = { at: performance.now(), overlaps };
  attempts.push(current);
  const { promise, resolve } = Promise.withResolvers<Result>();
  const timer = setTimeout(resolve, behaviour.afterMs, behaviour.result);
  const abort = () => resolve("aborted");
  // Time may have run out just before the attempt.
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  current.result = await promise.finally(() => clearTimeout(timer));
  return current.result;
}

const afterMs = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: LIMITS.lookupMs + 1_000 }),
);
const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 4, arbitrary: afterMs.map(failed) },
  fc.record({ result: fc.constant("final"), afterMs }),
);

Deno.test("retries: one attempt after the other, and an end within 5 s", async () => {
  const behaviours = fc.array(behaviour, { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(behaviours, async (behaviours) => {
    const [lookup] = await lookUp(1, behaviours);
    const { attempts, result, endedAt, timersLeft } = lookup!;
    assertEquals(timersLeft, 0);
    assert(endedAt <= LIMITS.lookupMs, `ended after ${endedAt} ms`);
    assert(attempts.length <= LIMITS.attempts, "too many attempts");
    assert(!attempts.some(({ overlaps }) => overlaps), "two at once");
    // Only a failure that may pass gets another attempt.
    assert(attempts.slice(0, -1).every(({ result }) => result === "failed"));
    const last = attempts.at(-1);
    const wasAborted = last?.result === "aborted";
    // An aborted attempt has no result: the one before it decides, if there is one.
    assertEquals(result, wasAborted ? attempts.at(-2)?.result : last?.result);
    if (wasAborted) assertEquals(endedAt, LIMITS.lookupMs);
    const gaveUp = !wasAborted && result === "failed";
    assert(!gaveUp || Number(last?.at) >= LAST_ATTEMPT_MS, "gave up early");
  });
  const numRuns = Number(Deno.env.get("FUZZ_RUNS") ?? 2_500);
  await fc.assert(property, { numRuns });
});

Deno.test("retries: after slow failures, attempts whose time has passed are left out", async () => {
  // After 1 s, those at 1.4, 2.85 and 4.3 s remain; after 4.6 s, only the last, at once.
  for (const [afterMs, expected] of [[1_000, 4], [4_600, 2]] as const) {
    const [lookup] = await lookUp(1, [failed(afterMs)]);
    assertEquals(lookup?.attempts.length, expected);
  }
});

Deno.test("retries: six attempts, spread, the last after 4.2 to 4.6 s", async () => {
  const lookups = await lookUp(100, [failed(1)]);
  assert(lookups.every(({ attempts }) => attempts.length === LIMITS.attempts));
  for (let nth = 1; nth < LIMITS.attempts; nth++) {
    const times = lookups.map(({ attempts }) => attempts[nth]?.at ?? NaN);
    // In each 50 ms, fewer than half of the lookups make this attempt.
    const groups = Map.groupBy(times, (at) => Math.floor(at / 50)).values();
    const most = Math.max(...groups.map(({ length }) => length));
    assert(most < lookups.length / 2, `attempt ${nth + 1}: ${times}`);
  }
  const lastTimes = lookups.map(({ attempts }) => attempts.at(-1)?.at ?? NaN);
  assert(Math.min(...lastTimes) >= LAST_ATTEMPT_MS, `${lastTimes}`);
  // What the Data API returns within 400 ms still counts.
  assert(Math.max(...lastTimes) <= LIMITS.lookupMs - 400, `${lastTimes}`);
});
