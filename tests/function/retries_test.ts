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

/** A Data API that fails for some time, and what its attempts meet meanwhile, one after the other. */
interface Outage {
  lastsMs: number;
  fates: Fate[];
  /** How long a response takes afterwards, in milliseconds. */
  latencyMs: number;
  /** Until when connections can go bad, in milliseconds. */
  goesBadMs: number;
  /** Whether a lookup had its response just before. */
  isSudden: boolean;
}

const afterMs = fc.oneof(
  fc.constant(1),
  fc.integer({ min: 1, max: LIMITS.budgetMs }),
);
const failures = fc.oneof(
  fc.record({ gets: fc.constantFrom(UNAVAILABLE, CUT, DROPPED), afterMs }),
  fc.constantFrom<Fate>(
    SILENCE,
    { ...SILENCE, isBad: true },
    { gets: UNAVAILABLE, afterMs: 1, isBad: true },
    { gets: CUT, afterMs: 1, isBad: true },
  ),
);
const outage = (
  goesBadMs: number,
  fate: fc.Arbitrary<Fate> = fc.oneof(
    failures,
    fc.record({ gets: fc.constant(RIGHT), afterMs }),
  ),
): fc.Arbitrary<Outage> =>
  fc.record({
    lastsMs: fc.oneof(
      fc.constant(LIMITS.outageMs),
      fc.integer({ min: 1, max: LIMITS.outageMs }),
    ),
    fates: fc.array(fate, { minLength: 1, maxLength: 40 }),
    latencyMs: fc.integer({ min: 1, max: 300 }),
    goesBadMs: fc.constant(goesBadMs),
    isSudden: fc.boolean(),
  });

/** Starts an outage. */
function start({ lastsMs, fates, latencyMs, goesBadMs, isSudden }: Outage) {
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
      const attemptsAt: number[] = [];
      const lookup = {
        attemptsAt,
        endedAt: Infinity,
        got: undefined as Result | void,
      };
      retry((signal) => {
        attemptsAt.push(passed());
        return attempt(signal, own);
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
    const at = part * Math.min(outage.lastsMs, LIMITS.outageMs);
    await time.pass(at - performance.now());
    lookups.push(api.lookUp());
    // Nobody counts by this one.
    time.setWallClock(1e12 * Math.random());
  }
  await time.pass(LIMITS.budgetMs + 3 * TICKS_MS);

  const { madeAt } = api;
  for (const { attemptsAt, endedAt } of lookups) {
    assert(attemptsAt.length <= LIMITS.attempts, `attempts: ${attemptsAt}`);
    assert(attemptsAt.every((at) => at <= endedAt), `ended: ${endedAt}`);
    assert(endedAt <= LIMITS.budgetMs + TICKS_MS, `ended: ${endedAt}`);
  }
  const apart = madeAt.slice(1).map((at, nth) => at - (madeAt[nth] ?? 0));
  const isSparing = apart.every((ms) => ms >= LIMITS.trustMs - TICKS_MS);
  assert(isSparing, `connections made at ${madeAt}`);
  assertEquals([api.underWay(), time.running()], [0, 0], "left running");
  return { lookups, madeAt };
}

const part = fc.double({ min: 0, max: 1, noNaN: true });

Deno.test("retries: whatever fails for four seconds, a lookup that begins meanwhile gets its response", async () => {
  await fc.assert(
    fc.asyncProperty(outage(LIMITS.outageMs), part, async (outage, begins) => {
      const { lookups } = await meet(outage, [begins]);
      assertEquals(lookups.map(({ got }) => got), [RIGHT]);
    }),
    { numRuns },
  );
});

// Of lookups that share their connections, one can find some that another made, or had a response from,
// just before they went bad. They are trusted: 1.3 s is too long for a lookup near its end.
const SHARED_MS = LIMITS.outageMs - LIMITS.trustMs + 200;

Deno.test("retries: the same for many lookups that share their connections", async () => {
  const begins = fc.array(part, { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(outage(SHARED_MS), begins, async (outage, begins) => {
      const { lookups } = await meet(outage, begins);
      assertEquals(lookups.map(({ got }) => got), begins.map(() => RIGHT));
    }),
    { numRuns },
  );
});

Deno.test("retries: when nothing but failures comes, the last attempt begins after 4.2 s", async () => {
  await fc.assert(
    fc.asyncProperty(outage(Infinity, failures), async (outage) => {
      const endless = { ...outage, lastsMs: Infinity };
      const { lookups: [lookup] } = await meet(endless, [0]);
      const lastAt = lookup?.attemptsAt.at(-1) ?? NaN;
      assert(lastAt >= LIMITS.lastAttemptMs, `${lookup?.attemptsAt}`);
      // A response that takes 0.3 s then is in time.
      assert(lastAt <= LIMITS.budgetMs - 300, `${lookup?.attemptsAt}`);
      assert(lookup?.got !== RIGHT && lookup?.got !== ABORTED);
    }),
    { numRuns: numRuns / 5 },
  );
});

/** An outage in which each attempt meets the same. */
const always = (...fates: Fate[]): Outage => ({
  lastsMs: Infinity,
  fates,
  latencyMs: 1,
  goesBadMs: Infinity,
  isSudden: false,
});

Deno.test("retries: silence alone ends without a result, and else the last failure is it", async () => {
  const silent = await meet(always(SILENCE), [0]);
  assertEquals(silent.lookups.map(({ got }) => got), [undefined]);
  const fates = [CUT, UNAVAILABLE].map((gets): Fate => ({ gets, afterMs: 1 }));
  const mixed = await meet(always(...fates, ...Array(4).fill(SILENCE)), [0]);
  assertEquals(mixed.lookups.map(({ got }) => got), [UNAVAILABLE]);
});

Deno.test("retries: an attempt that is silent for about 1.3 s gets another one beside it", async () => {
  const fails = { gets: UNAVAILABLE, afterMs: 1 };
  for (let nth = 0; nth < 2; nth++) {
    const fates = [...Array(nth).fill(fails), ...Array(5).fill(SILENCE)];
    const { lookups: [lookup] } = await meet(always(...fates), [0]);
    const [silentAt = NaN, nextAt = NaN] = lookup?.attemptsAt.slice(nth) ?? [];
    const ms = nextAt - silentAt;
    assert(ms >= LIMITS.trustMs - TICKS_MS && ms < 1_800, `${ms} ms`);
  }
});

for (const afterMs of [1, 350]) {
  Deno.test(`retries: lookups that fail together after ${afterMs} ms do not retry together`, async () => {
    const fails = always({ gets: UNAVAILABLE, afterMs });
    const { lookups } = await meet(fails, Array(100).fill(0));
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
  const once = await meet(always(fails, responds), [0]);
  assertEquals(once.madeAt, []);

  using time = stopTime();
  const api = start(always(responds));
  const failing = api.lookUp(fails);
  for (let seconds = 0; seconds < 5; seconds++) {
    api.lookUp();
    await time.pass(1_000);
  }
  assertEquals([failing.got, api.madeAt], [UNAVAILABLE, []]);
});
