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

/** What the Data API does with an attempt. */
type Answer =
  | { status: number; body: unknown; afterMs?: number }
  | "silence"
  | "the connection breaks";

const ROW: Answer = { status: 200, body: [KEY] };
const NO_ROW: Answer = { status: 200, body: [] };
const HTML = "<h1>Bad gateway</h1>";
/** What PostgREST returns for the queries in flight when PostgreSQL crashes. */
const CRASH: Answer = { status: 400, body: { code: "", message: "" } };
/** What PostgREST returns when its connections to PostgreSQL are killed. */
const KILLED: Answer = {
  status: 503,
  body: { code: "57P01", message: "terminating" },
};

/** What becomes of one lookup. It either has an outcome, or fails and logs a line. */
const ROWS: {
  when: string;
  /** The answers to the attempts, in order. The last one is that to all further attempts. */
  answers: Answer[];
  outcome?: "active" | "not_found";
  logs?: { code: string; status: number };
  attempts: number;
}[] = [
  // A success is a list of rows of exactly this product and this user.
  { when: "there is a row", answers: [ROW], outcome: "active", attempts: 1 },
  {
    when: "a row comes a millisecond before time is up",
    answers: [{ ...ROW, afterMs: 4_999 }],
    outcome: "active",
    attempts: 1,
  },
  {
    when: "there is no row",
    answers: [NO_ROW],
    outcome: "not_found",
    attempts: 1,
  },
  {
    when: "the row is another user's",
    answers: [{ status: 200, body: [OTHER_USER] }],
    logs: { code: "malformed", status: 200 },
    attempts: 6,
  },
  {
    when: "the row has another case of the name",
    answers: [{ status: 200, body: [OTHER_CASE] }],
    logs: { code: "malformed", status: 200 },
    attempts: 6,
  },
  {
    when: "the row is another product's",
    answers: [{ status: 200, body: [OTHER_PRODUCT] }],
    logs: { code: "malformed", status: 200 },
    attempts: 6,
  },
  {
    when: "another user's row is beside the right one",
    answers: [{ status: 200, body: [KEY, OTHER_USER] }],
    logs: { code: "malformed", status: 200 },
    attempts: 6,
  },
  {
    when: "null is beside the right row",
    answers: [{ status: 200, body: [KEY, null] }],
    logs: { code: "malformed", status: 200 },
    attempts: 6,
  },
  {
    when: "the body is an object in place of a list",
    answers: [{ status: 200, body: KEY }],
    logs: { code: "malformed", status: 200 },
    attempts: 6,
  },
  {
    when: "the status is 206, so that rows may be left out",
    answers: [{ status: 206, body: [] }],
    logs: { code: "http_206", status: 206 },
    attempts: 1,
  },

  // A failure that may pass is asked again.
  {
    when: "a list is cut, and then there is a row",
    answers: [{ status: 200, body: "[" }, ROW],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "the connection breaks, and then there is a row",
    answers: ["the connection breaks", ROW],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "there is a 502, and then a row",
    answers: [{ status: 502, body: HTML }, ROW],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "there is a 599, and then a row",
    answers: [{ status: 599, body: HTML }, ROW],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "PostgreSQL crashes, and then there is a row",
    answers: [CRASH, ROW],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "there is a 401 with PGRST303, and then a row",
    answers: [{ status: 401, body: { code: "PGRST303" } }, ROW],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "there is a 503 each time",
    answers: [KILLED],
    logs: { code: "57P01", status: 503 },
    attempts: 6,
  },
  {
    when: "the connection breaks each time",
    answers: ["the connection breaks"],
    logs: { code: "unreachable", status: 0 },
    attempts: 6,
  },

  // Silence is waited for, and not asked again.
  {
    when: "there is silence",
    answers: ["silence", ROW],
    logs: { code: "timeout", status: 0 },
    attempts: 1,
  },
  {
    when: "there is a 503, and then silence",
    answers: [KILLED, "silence", ROW],
    logs: { code: "57P01", status: 503 },
    attempts: 2,
  },

  // Any other failure is final. A 404 is no empty list.
  {
    when: "there is a 400 with PGRST303",
    answers: [{ status: 400, body: { code: "PGRST303" } }],
    logs: { code: "PGRST303", status: 400 },
    attempts: 1,
  },
  {
    when: "there is a 401 with an empty code",
    answers: [{ status: 401, body: { code: "" } }],
    logs: { code: "http_401", status: 401 },
    attempts: 1,
  },
  {
    when: "there is a 404 with PGRST205",
    answers: [{ status: 404, body: { code: "PGRST205" } }],
    logs: { code: "PGRST205", status: 404 },
    attempts: 1,
  },
  {
    when: "there is a 404 with an empty list",
    answers: [{ status: 404, body: " \n[]" }],
    logs: { code: "http_404", status: 404 },
    attempts: 1,
  },
  {
    when: "there is a 404 without a body",
    answers: [{ status: 404, body: "" }],
    logs: { code: "http_404", status: 404 },
    attempts: 1,
  },
  {
    when: "there is a 500 with null",
    answers: [{ status: 500, body: null }],
    logs: { code: "http_500", status: 500 },
    attempts: 1,
  },
  {
    when: "there is a 501",
    answers: [{ status: 501, body: HTML }],
    logs: { code: "http_501", status: 501 },
    attempts: 1,
  },

  // A code is logged only if it has the form of one.
  {
    when: "the code is PGRSTX00",
    answers: [{ status: 500, body: { code: "PGRSTX00" } }],
    logs: { code: "PGRSTX00", status: 500 },
    attempts: 1,
  },
  {
    when: "the code is in lower case",
    answers: [{ status: 400, body: { code: "42p01" } }],
    logs: { code: "http_400", status: 400 },
    attempts: 1,
  },
  {
    when: "the code has a digit too many",
    answers: [{ status: 400, body: { code: "PGRST1000" } }],
    logs: { code: "http_400", status: 400 },
    attempts: 1,
  },
  {
    when: "the code has a line break behind it",
    answers: [{ status: 400, body: { code: "42501\n" } }],
    logs: { code: "http_400", status: 400 },
    attempts: 1,
  },
  {
    when: "the code is in a list",
    answers: [{ status: 400, body: { code: ["42501"] } }],
    logs: { code: "http_400", status: 400 },
    attempts: 1,
  },
];

for (const { when, answers, outcome, logs, attempts } of ROWS) {
  const result = outcome ?? `logs ${logs?.code}`;
  Deno.test(`lookup: ${result} after ${attempts} attempts, when ${when}`, async () => {
    const seen = await simulate(answers);
    assertEquals(seen.outcome, outcome ?? "lookup_failed");
    const line = { event: "lookup_failed", ...logs, duration_ms: seen.ms };
    assertEquals(seen.log, logs ? [JSON.stringify(line)] : []);
    assertEquals(seen.attemptsAt.length, attempts, "number of attempts");
    assert(seen.ms <= LIMITS.lookupMs, `took ${seen.ms} ms`);
    assertEquals(seen.timers, 0, "number of timers left running");
  });
}

Deno.test("lookup: asks for the one row, with the secret key, and follows no redirect", async () => {
  const { queries: [query] } = await simulate([ROW]);
  const { url, method, headers, redirect } = query!;
  assertEquals(method + url, "GET" + URL + LOOKUP.path);
  assertEquals(headers.get("apikey"), "secret key");
  assertEquals(headers.get("Authorization"), "Bearer secret key");
  assertEquals(redirect, "manual");
});

/** When attempts begin, in milliseconds, if `Math.random` returns this number. */
const TIMES: {
  when: string;
  answers: Answer[];
  random: number;
  attemptsAt: number[];
}[] = [
  {
    when: "each fails at once, with the shortest delays",
    answers: [KILLED],
    random: 0,
    attemptsAt: [0, 50, 500, 1_400, 2_850, 4_300],
  },
  {
    when: "each fails at once, with the longest delays",
    answers: [KILLED],
    random: 1,
    attemptsAt: [0, 300, 750, 1_650, 3_100, 4_550],
  },
  {
    // All others are due by then. One of them begins, after a delay of 125 ms.
    when: "the first one fails after 4,600 ms, with a medium delay",
    answers: [{ status: 503, body: HTML, afterMs: 4_600 }, "silence"],
    random: 0.5,
    attemptsAt: [0, 4_725],
  },
];

for (const { when, answers, random, attemptsAt } of TIMES) {
  Deno.test(`lookup: attempts begin at ${attemptsAt} ms, when ${when}`, async () => {
    const seen = await simulate(answers, { random });
    assertEquals(seen.attemptsAt, attemptsAt);
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
    answers: [{ status: 403, body: HTML }],
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // Its next attempt already goes over the new connections.
    when:
      "the first attempt of a single lookup gets a 503, and the second one a row",
    answers: [KILLED, ROW],
    beginAt: [0],
    events: "make 1, ask 1, make 2, close 1, ask 2",
  },
  {
    // Two lookups fail on the first pool, and only the first of them replaces it. The third lookup
    // fails on the second pool and replaces that.
    when: "all lookups get a 503 just before their time is up",
    answers: [{ ...KILLED, afterMs: 4_999 }],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "all lookups get silence: as with the 503",
    answers: ["silence"],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "all lookups get silence, and no second pool can be made",
    answers: ["silence"],
    pools: 1,
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // Deno's own connections, which have no number here, are then used.
    when: "all lookups get silence, and no pool can be made at all",
    answers: ["silence"],
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

/** Makes a response. A body that is a text is sent as it stands, any other as JSON. */
function responseOf({ status, body }: { status: number; body: unknown }) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status });
}

interface Circumstances {
  /** When the lookups begin, in milliseconds. */
  beginAt?: number[] | undefined;
  /** What `Math.random` returns. */
  random?: number;
  /** How many pools of connections can be made. */
  pools?: number | undefined;
}

/**
 * Lets lookups begin, and time pass until they have ended. Meanwhile, the wall clock is set, which
 * changes nothing.
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
    const answer = answers[nth] ?? answers.at(-1)!;
    return new Promise((resolve, reject) => {
      const end = () => {
        if (typeof answer === "string") reject(new TypeError(answer));
        else resolve(responseOf(answer));
      };
      const afterMs = typeof answer === "string" ? 0 : answer.afterMs;
      const timer = answer === "silence" ? undefined : setTimeout(end, afterMs);
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
