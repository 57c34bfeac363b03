/** The attempts of a lookup, in exact time: what the Data API does to them, and what comes of that. */
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { now } from "../../supabase/functions/check-username-active/clock.ts";
import {
  type Pool,
  type Result,
  retry,
} from "../../supabase/functions/check-username-active/retries.ts";
import { stopTime } from "../support/exact_time.ts";
import { LIMITS } from "../support/contract.ts";

/** How many outages are tried. `FUZZ_RUNS` raises it. */
const numRuns = Number(Deno.env.get("FUZZ_RUNS") ?? 2_500);

/** How late anything may be, in milliseconds: two ticks of the function's clock. */
const TICKS_MS = 100;

const result = (status: number, rest: object) =>
  ({ status, data: null, error: null, ...rest }) as unknown as Result;
const RIGHT = result(200, { data: [] });
const UNAVAILABLE = result(503, { error: { code: "PGRST002" } });
const CUT = result(200, { error: { message: "[" } });
const DROPPED = result(0, { error: { message: "TypeError" } });
const ABORTED = result(0, { error: { message: "AbortError" } });

/** What an attempt meets. */
interface Fate {
  /** What it gets. Nothing, if nothing ever comes. */
  gets?: Result;
  /** How long that takes, in milliseconds. */
  afterMs: number;
  /** Whether its connections have gone bad: everything on them meets the same, for good. */
  isBad?: true;
}

const SILENCE: Fate = { afterMs: 1 };

/** A Data API that fails, and what its attempts meet meanwhile, one after the other. */
interface Outage {
  fates: Fate[];
  /** How long it lasts, in milliseconds. For ever, when not given. */
  lastsMs?: number | undefined;
  /** How long a response takes afterwards, in milliseconds. */
  latencyMs?: number;
  /** Until when connections can go bad, in milliseconds. */
  goesBadMs?: number;
  /** Whether a lookup had its response just before. */
  isSudden?: boolean;
}

const afterMs = fc.oneof(
  fc.constant(1),
  fc.integer({ min: 1, max: LIMITS.budgetMs }),
);
const fate = fc.oneof(
  fc.record({ gets: fc.constantFrom(UNAVAILABLE, CUT, DROPPED), afterMs }),
  fc.record({ gets: fc.constant(RIGHT), afterMs }),
  fc.constantFrom<Fate>(
    SILENCE,
    { ...SILENCE, isBad: true },
    { gets: UNAVAILABLE, afterMs: 1, isBad: true },
    { gets: CUT, afterMs: 1, isBad: true },
  ),
);

/** Starts an outage. */
function start(
  { fates, lastsMs = Infinity, latencyMs = 1, goesBadMs = 0, isSudden }: Outage,
) {
  const startedAt = performance.now();
  const bad = new Map<object, Fate>();
  const madeAt: number[] = [];
  const pool: Pool = {
    current: { trustedAt: isSudden ? now() : -Infinity },
    replace() {
      madeAt.push(performance.now());
      pool.current = { trustedAt: now() };
    },
  };
  let attempts = 0;
  const underWay = new Set<unknown>();

  const attempt = (signal: AbortSignal, own?: Fate) =>
    new Promise<Result>((resolve) => {
      const { current } = pool;
      const passedMs = performance.now() - startedAt;
      const after = { gets: RIGHT, afterMs: latencyMs };
      const fate: Fate = own ??
        (passedMs >= lastsMs ? after : fates[attempts++ % fates.length]) ??
        SILENCE;
      if (fate.isBad && passedMs < goesBadMs && !bad.has(current)) {
        bad.set(current, fate);
      }
      const end = (result: Result) => {
        clearTimeout(timer);
        underWay.delete(end);
        resolve(result);
      };
      const timer = setTimeout(() => {
        // Perhaps they have gone bad since.
        const { gets } = bad.get(current) ?? fate;
        if (gets) end(gets);
      }, (bad.get(current) ?? fate).afterMs);
      underWay.add(end);
      signal.addEventListener("abort", () => end(ABORTED));
    });

  return {
    /** When connections were made, in milliseconds. */
    madeAt,
    /** How many attempts are under way. */
    underWay: () => underWay.size,
    /** Begins a lookup, perhaps with a fate of its own. Times are in milliseconds after that. */
    lookUp(own?: Fate) {
      const beganAt = performance.now();
      const passed = () => performance.now() - beganAt;
      const lookup = {
        attemptsAt: [] as number[],
        results: [] as Result[],
        endedAt: Infinity,
        got: undefined as Result | void,
      };
      retry(async (signal) => {
        lookup.attemptsAt.push(passed());
        const result = await attempt(signal, own);
        if (result !== ABORTED) lookup.results.push(result);
        return result;
      }, pool).then((got) => Object.assign(lookup, { got, endedAt: passed() }));
      return lookup;
    },
  };
}

/** Begins lookups in an outage, at parts of its length, and looks at what holds for all. */
async function meet(outage: Outage, begins: number[]) {
  using time = stopTime();
  const api = start(outage);
  const lookups = [];
  for (const part of begins.toSorted((a, b) => a - b)) {
    const at = part * Math.min(outage.lastsMs ?? Infinity, LIMITS.outageMs);
    await time.pass(at - performance.now());
    lookups.push(api.lookUp());
  }
  await time.pass(LIMITS.budgetMs + 3 * TICKS_MS);

  const { madeAt } = api;
  for (const { attemptsAt, results, endedAt, got } of lookups) {
    assert(attemptsAt.length <= LIMITS.attempts, `attempts: ${attemptsAt}`);
    assert(attemptsAt.every((at) => at <= endedAt), `ended: ${endedAt}`);
    assert(endedAt <= LIMITS.budgetMs + TICKS_MS, `ended: ${endedAt}`);
    if (got === RIGHT) continue;
    assert(outage.lastsMs === undefined, "no response");
    assertEquals(got, results.at(-1));
    const lastAt = attemptsAt.at(-1) ?? NaN;
    assert(lastAt >= LIMITS.lastAttemptMs, `attempts: ${attemptsAt}`);
    // A response that takes 0.3 s then is in time.
    assert(lastAt <= LIMITS.budgetMs - 300, `attempts: ${attemptsAt}`);
  }
  const apart = madeAt.slice(1).map((at, nth) => at - (madeAt[nth] ?? 0));
  const isSparing = apart.every((ms) => ms >= LIMITS.trustMs - TICKS_MS);
  assert(isSparing, `connections made at ${madeAt}`);
  assertEquals([api.underWay(), time.running()], [0, 0], "left running");
  return { lookups, madeAt };
}

// Of lookups that share their connections, one can find some that another made, or had a response from,
// just before they went bad. They are trusted: 1.3 s is too long for a lookup near its end.
const SHARED_MS = LIMITS.outageMs - LIMITS.trustMs + 200;

for (
  const [whose, goesBadMs, maxLength] of [
    ["a lookup that begins meanwhile gets its response", Infinity, 1],
    ["each of many that share their connections does", SHARED_MS, 12],
  ] as const
) {
  Deno.test(`retries: whatever fails for four seconds, ${whose}`, async () => {
    const outage = fc.record({
      lastsMs: fc.oneof(
        fc.constantFrom(LIMITS.outageMs, undefined),
        fc.integer({ min: 1, max: LIMITS.outageMs }),
      ),
      fates: fc.array(fate, { minLength: 1, maxLength: 40 }),
      latencyMs: fc.integer({ min: 1, max: 300 }),
      goesBadMs: fc.constant(goesBadMs),
      isSudden: fc.boolean(),
    });
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    const begins = fc.array(part, { minLength: 1, maxLength });
    const property = fc.asyncProperty(outage, begins, async (...args) => {
      await meet(...args);
    });
    await fc.assert(property, { numRuns });
  });
}

Deno.test("retries: an attempt that is silent for about 1.3 s gets another one beside it", async () => {
  for (const failures of [[], [{ gets: UNAVAILABLE, afterMs: 1 }]]) {
    const fates = [...failures, ...Array(5).fill(SILENCE)];
    const { lookups: [lookup] } = await meet({ fates }, [0]);
    const attemptsAt = lookup?.attemptsAt.slice(failures.length) ?? [];
    const [silentAt = NaN, nextAt = NaN] = attemptsAt;
    const ms = nextAt - silentAt;
    assert(ms >= LIMITS.trustMs - TICKS_MS && ms < 1_800, `${ms} ms`);
  }
});

for (const afterMs of [1, 350]) {
  Deno.test(`retries: lookups that fail together after ${afterMs} ms do not retry together`, async () => {
    const fates = [{ gets: UNAVAILABLE, afterMs }];
    const { lookups } = await meet({ fates }, Array(100).fill(0));
    for (let nth = 1; nth < LIMITS.attempts - 1; nth++) {
      const times = lookups.map(({ attemptsAt }) => attemptsAt.at(nth) ?? NaN);
      const counts = Map.groupBy(times, (at) => Math.floor(at / 50)).values();
      const most = Math.max(...counts.map(({ length }) => length));
      assert(most < 50, `attempt ${nth + 1}: ${times}`);
    }
  });
}

Deno.test("retries: connections stay after a first failure, and while others get responses over them", async () => {
  const fails = { gets: UNAVAILABLE, afterMs: 1 };
  const responds = { gets: RIGHT, afterMs: 1 };
  const { madeAt } = await meet({ fates: [fails, responds] }, [0]);
  assertEquals(madeAt, []);

  using time = stopTime();
  const api = start({ fates: [responds] });
  const failing = api.lookUp(fails);
  for (let seconds = 0; seconds < 5; seconds++) {
    api.lookUp();
    await time.pass(1_000);
  }
  assertEquals([failing.got, api.madeAt], [UNAVAILABLE, []]);
});
