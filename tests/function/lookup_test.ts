/** The lookup in exact time: no clock runs but the test's, and no network is used. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import { createLookup } from "../../supabase/functions/check-username-active/lookup.ts";
import { LIMITS, LOOKUP } from "../support/contract.ts";

// Each test file runs in an isolate, so nothing that is replaced here is put back.
const time = FakeTimers.install({
  toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
});

const URL = "https://abcdefghijklmnopqrst.supabase.co";
const { project_id, curr_user } = LOOKUP;

const KEY = { project_id, curr_user };
const OTHER_CASE = { ...KEY, curr_user: curr_user.toUpperCase() };
const OTHER_USER = { ...KEY, curr_user: "Amelia" };
const OTHER_PRODUCT = { ...KEY, project_id: crypto.randomUUID() };

/** What comes back for an attempt, and when. Status 0: the connection breaks. */
type Answer = [status: number, body: unknown, afterMs?: number];

const ROW: Answer = [200, [KEY]];
const NO_ROW: Answer = [200, []];
const HTML = "<h1>Bad gateway</h1>";
const DROP: Answer = [0, ""];
const SILENCE: Answer = [200, [KEY], 60_000];
/** What PostgREST returns for the queries in flight when PostgreSQL crashes. */
const CRASH: Answer = [400, { code: "", message: "" }];
/** And when its connections are killed. */
const KILLED: Answer = [503, { code: "57P01", message: "terminating" }];

/** The answers (the last goes on); the response, or the code and the status that are logged. */
type Row = [what: string, Answer[], outcome: string, attempts?: number];

const ROWS: Row[] = [
  // A success is a list of rows of exactly this product and this user.
  ["a row", [ROW], "active"],
  ["a row in time", [[200, [KEY], LIMITS.lookupMs - 1]], "active"],
  ["no row", [NO_ROW], "not_found"],
  ["another user's row", [[200, [OTHER_USER]]], "malformed 200", 6],
  ["another case of the name", [[200, [OTHER_CASE]]], "malformed 200", 6],
  ["another product's row", [[200, [OTHER_PRODUCT]]], "malformed 200", 6],
  ["a wrong row beside it", [[200, [KEY, OTHER_USER]]], "malformed 200", 6],
  ["null beside it", [[200, [KEY, null]]], "malformed 200", 6],
  ["an object", [[200, KEY]], "malformed 200", 6],
  ["a 206, which may leave rows out", [[206, []]], "http_206 206"],

  // A failure that may pass is asked again.
  ["a cut list, then a row", [[200, "["], ROW], "active", 2],
  ["a drop, then a row", [DROP, ROW], "active", 2],
  ["502, then a row", [[502, HTML], ROW], "active", 2],
  ["599, then a row", [[599, HTML], ROW], "active", 2],
  ["a crash, then a row", [CRASH, ROW], "active", 2],
  ["401 PGRST303, once", [[401, { code: "PGRST303" }], ROW], "active", 2],
  ["503 always", [KILLED], "57P01 503", 6],
  ["drops always", [DROP], "unreachable 0", 6],

  // Silence is waited for, and not asked again.
  ["silence", [SILENCE, ROW], "timeout 0"],
  ["503, then silence", [KILLED, SILENCE, ROW], "57P01 503", 2],

  // Any other failure is final. A 404 is no empty list.
  ["400 PGRST303", [[400, { code: "PGRST303" }]], "PGRST303 400"],
  ["401 without a code", [[401, { code: "" }]], "http_401 401"],
  ["404 PGRST205", [[404, { code: "PGRST205" }]], "PGRST205 404"],
  ["404 with a list", [[404, " \n[]"]], "http_404 404"],
  ["404 with nothing", [[404, ""]], "http_404 404"],
  ["500 with null", [[500, null]], "http_500 500"],
  ["501", [[501, HTML]], "http_501 501"],

  // Only what has the form of a code is logged.
  ["PGRSTX00", [[500, { code: "PGRSTX00" }]], "PGRSTX00 500"],
  ["42p01", [[400, { code: "42p01" }]], "http_400 400"],
  ["PGRST1000", [[400, { code: "PGRST1000" }]], "http_400 400"],
  ["a line break", [[400, { code: "42501\n" }]], "http_400 400"],
  ["a code in a list", [[400, { code: ["42501"] }]], "http_400 400"],
];

for (const [what, answers, expected, attempts = 1] of ROWS) {
  Deno.test(`lookup: ${what} → ${expected}, attempts: ${attempts}`, async () => {
    const { outcome, ms, log, timers, attemptsAt } = await simulate(answers);
    const [code, status] = expected.split(" ");
    const line =
      `{"event":"lookup_failed","code":"${code}","status":${status},"duration_ms":${ms}}`;
    const all = status ? ["lookup_failed", line] : [expected];
    assertEquals([outcome, ...log], all);
    assertEquals(attemptsAt.length, attempts, "number of attempts");
    assert(ms <= LIMITS.lookupMs, `took ${ms} ms`);
    assertEquals(timers, 0, "number of timers left running");
  });
}

Deno.test("lookup: it asks for the one row, with the key, and follows no redirect", async () => {
  const { queries: [query] } = await simulate([ROW]);
  const { url, method, headers, redirect } = query!;
  assertEquals(method + url, "GET" + URL + LOOKUP.path);
  assertEquals(headers.get("apikey"), "secret key");
  assertEquals(headers.get("Authorization"), "Bearer secret key");
  assertEquals(redirect, "manual");
});

/** When attempts begin, in milliseconds, with this random number. */
const TIMES: [string, Answer[], random: number, attemptsAt: number[]][] = [
  ["at the earliest", [KILLED], 0, [0, 50, 500, 1_400, 2_850, 4_300]],
  ["at the latest", [KILLED], 1, [0, 300, 750, 1_650, 3_100, 4_550]],
  ["late", [[503, HTML, 4_600], SILENCE], 0.5, [0, 4_725]],
];

for (const [what, answers, random, attemptsAt] of TIMES) {
  Deno.test(`lookup: attempts ${what}: ${attemptsAt} ms`, async () => {
    const seen = await simulate(answers, { random });
    assertEquals(seen.attemptsAt, attemptsAt, "when attempts begin");
  });
}

/**
 * What becomes of the connections. `make 1` is that the first pool of connections is made, `ask 1`
 * that a query goes over it, and `close 1` that it is closed. A pool stays in use for good unless a
 * row says otherwise. Three lookups begin at 0 ms, at 100 ms and at 6,000 ms.
 */
const CONNECTIONS: {
  when: string;
  answers: Answer[];
  beginAt?: number[];
  /** How many pools can be made. */
  pools?: number;
  events: string;
}[] = [
  {
    when: "all lookups get a row",
    answers: [ROW],
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    when: "all lookups fail for good",
    answers: [[403, HTML]],
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // Its next attempt already goes over the new connections.
    when:
      "the first attempt of a single lookup gets a 503, and the second one a row",
    answers: [[503, HTML], ROW],
    beginAt: [0],
    events: "make 1, ask 1, make 2, close 1, ask 2",
  },
  {
    // Two lookups fail on the first pool, and only the first of them replaces it. The third lookup
    // fails on the second pool and replaces that.
    when: "all lookups get a 503 just before their time is up",
    answers: [[503, HTML, LIMITS.lookupMs - 1]],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "all lookups get silence: as with the 503",
    answers: [SILENCE],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "all lookups get silence, and no second pool can be made",
    answers: [SILENCE],
    pools: 1,
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // Deno's own connections, which have no number here, are then used.
    when: "all lookups get silence, and no pool can be made at all",
    answers: [SILENCE],
    pools: 0,
    events: "ask 0, ask 0, ask 0",
  },
];

for (const { when, answers, beginAt, pools, events } of CONNECTIONS) {
  Deno.test(`lookup: its connections, when ${when}`, async () => {
    const options = { beginAt: beginAt ?? [0, 100, 6_000], pools };
    const seen = await simulate(answers, options);
    assertEquals(seen.events.join(", "), events);
  });
}

interface Circumstances {
  beginAt?: number[];
  random?: number;
  pools?: number | undefined;
}

/**
 * Lets lookups begin at these times, in milliseconds, and time pass until they have ended.
 * Meanwhile, the wall clock is set, which changes nothing. So many pools of connections can be made.
 */
async function simulate(
  answers: Answer[],
  { beginAt = [0], random = 0.5, pools = 9 }: Circumstances = {},
) {
  /** What becomes of the last lookup; and what all of them do. */
  const seen = {
    outcome: "has not ended",
    ms: NaN,
    timers: NaN,
    attemptsAt: [] as number[],
    queries: [] as Request[],
    events: [] as string[],
    log: [] as string[],
  };
  const fetch = (url: string, init: Request & { client?: { id: number } }) => {
    const { signal, client } = init;
    seen.queries.push({ ...init, url });
    seen.events.push(`ask ${client?.id ?? 0}`);
    const nth = seen.attemptsAt.push(performance.now()) - 1;
    const [status, body, afterMs = 0] = answers[nth] ?? answers.at(-1)!;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (status > 0) resolve(new Response(text, { status }));
        reject(new TypeError("connection closed"));
      }, afterMs);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  };
  let made = 0;
  const createHttpClient = () => {
    if (made === pools) throw new TypeError("It is not a function");
    const id = ++made;
    seen.events.push(`make ${id}`);
    return { id, close: () => seen.events.push(`close ${id}`) };
  };

  time.reset();
  Object.assign(globalThis, { fetch });
  Object.assign(Deno, { createHttpClient });
  Math.random = () => random;
  console.error = (line) => seen.log.push(line);
  const lookUp = createLookup(URL, "secret key");
  for (const beginMs of beginAt) {
    setTimeout(async () => {
      seen.outcome = await lookUp({ project_id, username: curr_user });
      seen.ms = performance.now() - beginMs;
      seen.timers = time.countTimers();
    }, beginMs);
  }
  for (const wallClockMs of [1e13, 0, 1e13]) {
    time.setSystemTime(wallClockMs);
    await time.tickAsync(4_000); // 12 s in all.
  }
  return seen;
}
