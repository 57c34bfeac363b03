/** The attempts of a lookup, in exact time. Which failures get another one: `faults_test.ts`. */
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import {
  type Result,
  retry,
} from "../../supabase/functions/check-username-active/retries.ts";
import { LIMITS } from "../support/contract.ts";
import { stopTime } from "../support/exact_time.ts";

/** How often a property is tried. `FUZZ_RUNS` raises it. */
const numRuns = Number(Deno.env.get("FUZZ_RUNS") ?? 2_500);

const makeResult = (status: number, rest: object) =>
  ({ status, data: null, error: null, ...rest }) as unknown as Result;
const ROWS = makeResult(200, { data: [] });
const LASTING = makeResult(403, { error: { code: "42501" } });
const UNAVAILABLE = makeResult(503, { error: { code: "PGRST002" } });
const CUT = makeResult(200, { error: { message: "[" } });
const DROPPED = makeResult(0, { error: { message: "TypeError" } });
const ABORTED = makeResult(0, { error: { message: "AbortError" } });

/** What the Data API does with an attempt: its result, after milliseconds. No result is silence. */
type Behaviour = { result?: Result; afterMs: number };

const unavailable = (afterMs: number) => ({ result: UNAVAILABLE, afterMs });
const SILENT: Behaviour = { afterMs: 0 };

/** An attempt: when it began, whether another one was under way, and its result. */
type Attempt = { at: number; overlaps: boolean; result?: Result };

/** Begins a lookup. Each attempt meets the next behaviour, or else the last. Times are in ms. */
function lookUp(behaviours: Behaviour[]) {
  const beganAt = performance.now();
  const passed = () => performance.now() - beganAt;
  const attempts: Attempt[] = [];
  let underWay = 0;
  const lookup = { attempts, endedAt: Infinity, result: undefined as Result };
  retry(async (signal) => {
    const { result, afterMs } = behaviours[attempts.length] ??
      behaviours.at(-1) ?? SILENT;
    const attempt: Attempt = { at: passed(), overlaps: underWay++ > 0 };
    attempts.push(attempt);
    attempt.result = await new Promise((resolve) => {
      const timer = setTimeout(() => result && resolve(result), afterMs);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve(ABORTED);
      });
    });
    underWay--;
    return attempt.result;
  }).then((result) => Object.assign(lookup, { result, endedAt: passed() }));
  return lookup;
}

/** Begins a lookup, and lets time pass until it has ended. */
async function wholeLookup(...behaviours: Behaviour[]) {
  using time = stopTime();
  const lookup = lookUp(behaviours);
  await time.pass(LIMITS.lookupMs);
  return lookup;
}

const afterMs = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: LIMITS.lookupMs + 100 }),
);
const failing = fc.constantFrom(UNAVAILABLE, CUT, DROPPED);
const behaviour = fc.oneof(
  { weight: 8, arbitrary: fc.record({ result: failing, afterMs }) },
  fc.record({ result: fc.constantFrom(ROWS, LASTING), afterMs }),
  fc.constant(SILENT),
);

Deno.test("retries: whatever the Data API does, attempts come one after the other, and the lookup ends in 5 s", async () => {
  const behaviours = fc.array(behaviour, { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(behaviours, async (behaviours) => {
    const lookup = await wholeLookup(...behaviours);
    const { attempts, endedAt, result } = lookup;
    assert(endedAt <= LIMITS.lookupMs, `ended after ${endedAt} ms`);
    assert(attempts.length <= LIMITS.attempts, "too many attempts");
    assert(!attempts.some(({ overlaps }) => overlaps), "two at once");
    // Only a failure that may pass gets another attempt.
    for (const { result } of attempts.slice(0, -1)) {
      assert(![ROWS, LASTING, ABORTED].includes(result));
    }
    const last = attempts.at(-1);
    const isSilent = last?.result === ABORTED;
    // A lookup that only meets silence has no result.
    assertEquals(result, isSilent ? attempts.at(-2)?.result : last?.result);
    if (isSilent) assertEquals(endedAt, LIMITS.lookupMs);
    if (isSilent || result === ROWS || result === LASTING) return;
    assert((last?.at ?? 0) >= LIMITS.lastAttemptMs, "gave up early");
  });
  await fc.assert(property, { numRuns });
});

Deno.test("retries: a Data API that fails at once gets six attempts, the last after 4.2 to 4.6 s", async () => {
  const { attempts, result } = await wholeLookup(unavailable(1));
  assertEquals([attempts.length, result], [LIMITS.attempts, UNAVAILABLE]);
  const lastAt = attempts.at(-1)?.at ?? NaN;
  // What the Data API returns within 400 ms still counts.
  const latestAt = LIMITS.lookupMs - 400;
  assert(lastAt >= LIMITS.lastAttemptMs && lastAt <= latestAt, `${lastAt} ms`);
});

Deno.test("retries: after slow failures, attempts whose time has passed are left out", async () => {
  for (const [afterMs, expected] of [[1_000, 4], [4_600, 2]] as const) {
    const { attempts } = await wholeLookup(unavailable(afterMs));
    assertEquals(attempts.length, expected);
  }
});

Deno.test("retries: a lookup that has ended leaves no timer running", async () => {
  using time = stopTime();
  const lookup = lookUp([{ result: ROWS, afterMs: 1 }]);
  await time.pass(2);
  assertEquals([lookup.result, time.timerCount()], [ROWS, 0]);
});

Deno.test("retries: lookups that fail together are spread when they are tried again", async () => {
  using time = stopTime();
  const lookups = Array.from({ length: 100 }, () => lookUp([unavailable(1)]));
  await time.pass(LIMITS.lookupMs);
  for (let nth = 1; nth < LIMITS.attempts; nth++) {
    const times = lookups.map(({ attempts }) => attempts[nth]?.at ?? NaN);
    const counts = Map.groupBy(times, (at) => Math.floor(at / 50)).values();
    const most = Math.max(...counts.map(({ length }) => length));
    assert(most < 50, `attempt ${nth + 1}: ${times}`);
  }
});

Deno.test("retries: setting the wall clock changes nothing", async () => {
  using time = stopTime();
  const lookup = lookUp([unavailable(1)]);
  for (const wallClockMs of [1e13, 0]) {
    time.setWallClock(wallClockMs);
    await time.pass(LIMITS.lookupMs / 2);
  }
  assertEquals(lookup.attempts.length, LIMITS.attempts);
});
