/** The attempts of a lookup, in exact time. Which failures get another one: `faults_test.ts`. */
import FakeTimers from "@sinonjs/fake-timers";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { retry } from "../../supabase/functions/check-username-active/retries.ts";
import { LIMITS } from "../support/contract.ts";

const numRuns = Number(Deno.env.get("FUZZ_RUNS") ?? 2_500);

/** What becomes of an attempt. `aborted`: time was up. */
type Result = "final" | "failed" | "aborted";

/** What the Data API does with an attempt: its result, after milliseconds, or silence. */
type Behaviour = { result?: "final" | "failed"; afterMs: number };

const failed = (afterMs: number): Behaviour => ({ result: "failed", afterMs });

/** An attempt: when it began, whether another one was under way, and its result. */
type Attempt = { at: number; overlaps: boolean; result?: Result };

/** Stops the clocks of this process, which then follow `time`. Disposing starts them again. */
function stopClocks() {
  const time = FakeTimers.install({
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  return { time, [Symbol.dispose]: () => time.uninstall() };
}

/** Begins a lookup. Each attempt meets the next behaviour, or else the last. Times are in ms. */
function lookUp(time: FakeTimers.Clock, ...behaviours: Behaviour[]) {
  const beganAt = performance.now();
  const passed = () => performance.now() - beganAt;
  const attempts: Attempt[] = [];
  const lookup = {
    attempts,
    result: undefined as Result | undefined,
    endedAt: Infinity,
    timersLeft: NaN,
  };
  const attempt = async (signal: AbortSignal): Promise<Result> => {
    const behaviour = behaviours[attempts.length] ?? behaviours.at(-1);
    const { result, afterMs = 0 } = behaviour ?? {};
    const overlaps = attempts.some(({ result }) => !result);
    const current: Attempt = { at: passed(), overlaps };
    attempts.push(current);
    const { promise, resolve } = Promise.withResolvers<Result>();
    const timer = setTimeout(() => result && resolve(result), afterMs);
    const abort = () => resolve("aborted");
    // Time may have run out just before the attempt.
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    current.result = await promise.finally(() => clearTimeout(timer));
    return current.result;
  };
  retry(attempt, (result) => result !== "final").then((result) => {
    const timersLeft = time.countTimers();
    Object.assign(lookup, { result, endedAt: passed(), timersLeft });
  });
  return lookup;
}

async function wholeLookup(...behaviours: Behaviour[]) {
  using clocks = stopClocks();
  const lookup = lookUp(clocks.time, ...behaviours);
  await clocks.time.tickAsync(LIMITS.lookupMs);
  return lookup;
}

const afterMs = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: LIMITS.lookupMs + 100 }),
);
const behaviour = fc.oneof(
  { weight: 8, arbitrary: afterMs.map(failed) },
  fc.record({ result: fc.constant("final" as const), afterMs }),
  fc.constant({ afterMs: 0 }),
);

Deno.test("retries: whatever the Data API does, attempts come one after the other, and the lookup ends in 5 s", async () => {
  const behaviours = fc.array(behaviour, { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(behaviours, async (behaviours) => {
    const lookup = await wholeLookup(...behaviours);
    const { attempts, result, endedAt, timersLeft } = lookup;
    assertEquals(timersLeft, 0);
    assert(endedAt <= LIMITS.lookupMs, `ended after ${endedAt} ms`);
    assert(attempts.length <= LIMITS.attempts, "too many attempts");
    assert(!attempts.some(({ overlaps }) => overlaps), "two at once");
    // Only a failure that may pass gets another attempt.
    assert(attempts.slice(0, -1).every(({ result }) => result === "failed"));
    const last = attempts.at(-1);
    const isSilent = last?.result === "aborted";
    // A lookup that only meets silence has no result.
    assertEquals(result, isSilent ? attempts.at(-2)?.result : last?.result);
    if (isSilent) assertEquals(endedAt, LIMITS.lookupMs);
    const gaveUp = !isSilent && result === "failed";
    assert(
      !gaveUp || Number(last?.at) >= LIMITS.lastAttemptMs,
      "gave up early",
    );
  });
  await fc.assert(property, { numRuns });
});

Deno.test("retries: a Data API that fails at once gets six attempts, the last after 4.2 to 4.6 s", async () => {
  const { attempts, result } = await wholeLookup(failed(1));
  assertEquals([attempts.length, result], [LIMITS.attempts, "failed"]);
  const lastAt = attempts.at(-1)?.at ?? NaN;
  // What the Data API returns within 400 ms still counts.
  const latestAt = LIMITS.lookupMs - 400;
  assert(lastAt >= LIMITS.lastAttemptMs && lastAt <= latestAt, `${lastAt} ms`);
});

Deno.test("retries: after slow failures, attempts whose time has passed are left out", async () => {
  // Due at 1.4, 2.85 and 4.3 s, after the first; and only the last one, at 4.6 s.
  for (const [afterMs, expected] of [[1_000, 4], [4_600, 2]] as const) {
    const { attempts } = await wholeLookup(failed(afterMs));
    assertEquals(attempts.length, expected);
  }
});

Deno.test("retries: lookups that fail together are spread when they are tried again", async () => {
  using clocks = stopClocks();
  const lookups = Array.from(
    { length: 100 },
    () => lookUp(clocks.time, failed(1)),
  );
  await clocks.time.tickAsync(LIMITS.lookupMs);
  for (let nth = 1; nth < LIMITS.attempts; nth++) {
    const times = lookups.map(({ attempts }) => attempts[nth]?.at ?? NaN);
    const counts = Map.groupBy(times, (at) => Math.floor(at / 50)).values();
    const most = Math.max(...counts.map(({ length }) => length));
    assert(most < 50, `attempt ${nth + 1}: ${times}`);
  }
});

Deno.test("retries: setting the wall clock changes nothing", async () => {
  using clocks = stopClocks();
  const lookup = lookUp(clocks.time, failed(1));
  for (const wallClockMs of [1e13, 0]) {
    clocks.time.setSystemTime(wallClockMs);
    await clocks.time.tickAsync(LIMITS.lookupMs / 2);
  }
  assertEquals(lookup.attempts.length, LIMITS.attempts);
});
