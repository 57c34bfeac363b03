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

/** What comes back for an attempt: a response, nothing at all, or a connection that is dropped. */
type Answer = { status: number; body: unknown; afterMs?: number } | "silence" | "drop";

const rows = (...body: unknown[]) => ({ status: 200, body });
const CUT = { status: 200, body: "[" };
/** What a gateway sends in place of the Data API. */
const html = (status: number): Answer => ({ status, body: "<h1>Bad gateway</h1>" });
/** What PostgREST sends for an error. */
const error = (status: number, code: unknown): Answer => ({ status, body: { code } });

/** What PostgREST returns for the queries in flight when PostgreSQL crashes. */
const CRASH = { status: 400, body: { code: "", message: "" } };
/** What PostgREST returns when its connections to PostgreSQL are killed. */
const KILLED = { status: 503, body: { code: "57P01", message: "terminating" } };

/** What is logged of a failure that has no code of PostgreSQL or PostgREST. */
const http = (status: number) => ({ code: `http_${status}`, status });
const MALFORMED = { code: "malformed", status: 200 };

/** What becomes of a lookup: it has an outcome, or it fails and logs a line. */
const ROWS: {
  /** What the Data API sends. */
  sends: string;
  /** The answers to the attempts, in order. The last one is that to all further attempts. */
  answers: Answer[];
  outcome?: "active" | "not_found";
  logs?: { code: string; status: number };
  /** How many attempts there are: 1 by default. */
  attempts?: number;
}[] = [
  // A success is a list of rows of exactly this product and this user.
  { sends: "a row", answers: [rows(KEY)], outcome: "active" },
  { sends: "a row in time", answers: [{ ...rows(KEY), afterMs: 4_999 }], outcome: "active" },
  { sends: "no row", answers: [rows()], outcome: "not_found" },
  { sends: "another user's row", answers: [rows(OTHER_USER)], logs: MALFORMED, attempts: 6 },
  { sends: "the name in capitals", answers: [rows(OTHER_CASE)], logs: MALFORMED, attempts: 6 },
  { sends: "another product's row", answers: [rows(OTHER_PRODUCT)], logs: MALFORMED, attempts: 6 },
  { sends: "a row too many", answers: [rows(KEY, OTHER_USER)], logs: MALFORMED, attempts: 6 },
  { sends: "a row, and null", answers: [rows(KEY, null)], logs: MALFORMED, attempts: 6 },
  { sends: "no list", answers: [{ status: 200, body: KEY }], logs: MALFORMED, attempts: 6 },
  { sends: "a 206, which may be cut", answers: [{ status: 206, body: [] }], logs: http(206) },

  // A failure that may pass is asked again.
  { sends: "a cut list, then a row", answers: [CUT, rows(KEY)], outcome: "active", attempts: 2 },
  { sends: "a drop, then a row", answers: ["drop", rows(KEY)], outcome: "active", attempts: 2 },
  { sends: "a 502, then a row", answers: [html(502), rows(KEY)], outcome: "active", attempts: 2 },
  { sends: "a 599, then a row", answers: [html(599), rows(KEY)], outcome: "active", attempts: 2 },
  { sends: "a crash, then a row", answers: [CRASH, rows(KEY)], outcome: "active", attempts: 2 },
  {
    sends: "a 401 with PGRST303, then a row",
    answers: [error(401, "PGRST303"), rows(KEY)],
    outcome: "active",
    attempts: 2,
  },
  {
    sends: "a 503 each time",
    answers: [KILLED],
    logs: { code: "57P01", status: 503 },
    attempts: 6,
  },
  {
    sends: "a drop each time",
    answers: ["drop"],
    logs: { code: "unreachable", status: 0 },
    attempts: 6,
  },

  // Silence is waited for, and not asked again.
  { sends: "silence", answers: ["silence", rows(KEY)], logs: { code: "timeout", status: 0 } },
  {
    sends: "a 503, then silence",
    answers: [KILLED, "silence", rows(KEY)],
    logs: { code: "57P01", status: 503 },
    attempts: 2,
  },

  // Any other failure is final. A 404 is no empty list.
  { sends: "400", answers: [error(400, "PGRST303")], logs: { code: "PGRST303", status: 400 } },
  { sends: "401", answers: [error(401, "")], logs: http(401) },
  { sends: "404", answers: [error(404, "PGRST205")], logs: { code: "PGRST205", status: 404 } },
  { sends: "404 with an empty list", answers: [{ status: 404, body: " \n[]" }], logs: http(404) },
  { sends: "404 without a body", answers: [{ status: 404, body: "" }], logs: http(404) },
  { sends: "500 with null", answers: [{ status: 500, body: null }], logs: http(500) },
  { sends: "501", answers: [html(501)], logs: http(501) },

  // A code is logged only if it has the form of one.
  { sends: "500", answers: [error(500, "PGRSTX00")], logs: { code: "PGRSTX00", status: 500 } },
  { sends: "a code in lower case", answers: [error(400, "42p01")], logs: http(400) },
  { sends: "a code with a digit too many", answers: [error(400, "PGRST1000")], logs: http(400) },
  {
    sends: "a code with a line break behind it",
    answers: [error(400, "42501\n")],
    logs: http(400),
  },
  { sends: "a code in a list", answers: [error(400, ["42501"])], logs: http(400) },
];

for (const { sends, answers, outcome, logs, attempts = 1 } of ROWS) {
  const result = outcome ?? `${logs?.code}, status ${logs?.status}`;
  Deno.test(`lookup: ${sends} → ${result}, attempts: ${attempts}`, async () => {
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
  const { queries: [query] } = await simulate([rows(KEY)]);
  const { url, method, headers, redirect } = query!;
  assertEquals(method + url, "GET" + URL + LOOKUP.path);
  assertEquals(headers.get("apikey"), "secret key");
  assertEquals(headers.get("Authorization"), "Bearer secret key");
  assertEquals(redirect, "manual");
});

/** When attempts begin, in milliseconds, if `Math.random` returns this number. */
const TIMES: { when: string; answers: Answer[]; random: number; attemptsAt: number[] }[] = [
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
    answers: [{ ...KILLED, afterMs: 4_600 }, "silence"],
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
 * that a query goes over it, and `close 1` that it is closed.
 */
const CONNECTIONS: {
  when: string;
  answers: Answer[];
  /** When lookups begin, in milliseconds: by default, two together, and one later. */
  beginAt?: number[];
  /** How many pools can be made. */
  pools?: number;
  events: string;
}[] = [
  { when: "all get a row", answers: [rows(KEY)], events: "make 1, ask 1, ask 1, ask 1" },
  { when: "all fail for good", answers: [html(403)], events: "make 1, ask 1, ask 1, ask 1" },
  {
    // The second attempt already goes over the new pool.
    when: "a single lookup gets a 503, and then a row",
    answers: [KILLED, rows(KEY)],
    beginAt: [0],
    events: "make 1, ask 1, make 2, close 1, ask 2",
  },
  {
    // Two lookups fail on the first pool, and only the first of them replaces it. The third lookup
    // fails on the second pool, and replaces that.
    when: "all get a 503 just before time is up",
    answers: [{ ...KILLED, afterMs: 4_999 }],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "all get silence, which is as with that 503",
    answers: ["silence"],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "all get silence, and no second pool can be made",
    answers: ["silence"],
    pools: 1,
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // Deno's own connections are then used. They have no number, which is 0 here.
    when: "all get silence, and no pool can be made at all",
    answers: ["silence"],
    pools: 0,
    events: "ask 0, ask 0, ask 0",
  },
];

for (const { when, answers, beginAt = [0, 100, 6_000], pools = 9, events } of CONNECTIONS) {
  Deno.test(`lookup: its connections when ${when}`, async () => {
    const seen = await simulate(answers, { beginAt, pools });
    assertEquals(seen.events.join(", "), events);
  });
}

/** Makes a response. A body that is a text is sent as it stands, any other as JSON. */
function responseOf({ status, body }: { status: number; body: unknown }) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status });
}

/**
 * Lets lookups begin, and time pass until they have ended. Meanwhile, the wall clock is set, which
 * changes nothing.
 */
async function simulate(
  answers: Answer[],
  // When lookups begin, in ms; what `Math.random` returns; how many pools of connections can be made.
  { beginAt = [0], random = 0.5, pools = 9 } = {},
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
