/** The lookup in exact time: no clock runs but the test's, and no network is used. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import { createLookup } from "../../supabase/functions/check-username-active/lookup.ts";
import { LIMITS, LOOKUP } from "../support/contract.ts";

// Each test file runs in an isolate, so nothing that is replaced here is put back.
const time = FakeTimers.install({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });

const SUPABASE_URL = "https://abcdefghijklmnopqrst.supabase.co";
const { project_id, curr_user } = LOOKUP; // Each lookup here asks for "Zoë & Co." and this product.

/** The row that is asked for, and three others. */
const ROW = { project_id, curr_user };
const ROW_IN_CAPITALS = { project_id, curr_user: "ZOË & CO." };
const AMELIAS_ROW = { project_id, curr_user: "Amelia" };
const OTHER_PRODUCTS_ROW = { project_id: crypto.randomUUID(), curr_user };

/** What comes back for a query: a response, nothing at all, or a connection that is dropped. */
type Answer = { status: number; body: unknown; afterMs?: number } | "silence" | "drop";

/** What PostgREST sends for a query that succeeds. */
const list = (...body: unknown[]) => ({ status: 200, body });
/** What PostgREST sends for an error, but with any code. */
const error = (status: number, code: unknown): Answer => ({ status, body: { code } });
/** What PostgREST sends for the queries in flight when PostgreSQL crashes. */
const CRASH = { status: 400, body: { code: "", message: "" } };
/** What PostgREST sends when its connections to PostgreSQL are killed. */
const KILLED = { status: 503, body: { code: "57P01", message: "terminating" } };
/** What hosted projects send now and then for a valid secret key. */
const JWT_401 = error(401, "PGRST303");
/** What a hosted project sends for a secret key that was deleted. */
const REJECTED = { status: 401, body: { message: "Invalid API key" } };
/** What a gateway sends in place of PostgREST. */
const html = (status: number): Answer => ({ status, body: "<h1>Bad gateway</h1>" });
/** What Deno may pass on as whole, though the connection broke off. */
const CUT = { status: 200, body: "[" };

/** What is logged of a response with a code, and of one without. Status 0: there is no response. */
const logged = (status: number, code: string) => ({ code, status });
const http = (status: number) => logged(status, `http_${status}`);
/** What is logged of a 200 that is not sound. */
const MALFORMED = logged(200, "malformed");

const LOOKUPS: {
  /** What the Data API sends. */
  when: string;
  /** The answers to the attempts, in order. The last one is that to all further attempts. */
  answers: Answer[];
  /** The outcome. Without one, the lookup fails, and logs a line. */
  outcome?: "active" | "not_found";
  logs?: { code: string; status: number };
  /** How many attempts there are: 1 by default. A lookup makes 6 at most. */
  attempts?: number;
}[] = [
  // A success is a list of rows of exactly this product and this user. A lookup has 5,000 ms.
  { when: "a row", answers: [list(ROW)], outcome: "active" },
  { when: "a row after 4,999 ms", answers: [{ ...list(ROW), afterMs: 4_999 }], outcome: "active" },
  { when: "an empty list", answers: [list()], outcome: "not_found" },

  // A failure that may pass by itself is asked again: no whole response, a 200 that is no sound list, 502 to
  // 599, a 400 with an empty code, and a 401 with PGRST303.
  { when: "a cut list, then a row", answers: [CUT, list(ROW)], outcome: "active", attempts: 2 },
  {
    when: "a 502 page, then a row",
    answers: [html(502), list(ROW)],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "a 599 page, then a row",
    answers: [html(599), list(ROW)],
    outcome: "active",
    attempts: 2,
  },
  {
    when: "a crash error, then a row",
    answers: [CRASH, list(ROW)],
    outcome: "active",
    attempts: 2,
  },
  { when: "a PGRST303, then a row", answers: [JWT_401, list(ROW)], outcome: "active", attempts: 2 },

  // If that failure does not pass, all six attempts are made.
  { when: "a 503 each time", answers: [KILLED], logs: logged(503, "57P01"), attempts: 6 },
  { when: "a drop each time", answers: ["drop"], logs: logged(0, "unreachable"), attempts: 6 },
  { when: "another user's row", answers: [list(AMELIAS_ROW)], logs: MALFORMED, attempts: 6 },
  {
    when: "a row with the name in capitals",
    answers: [list(ROW_IN_CAPITALS)],
    logs: MALFORMED,
    attempts: 6,
  },
  {
    when: "another product's row",
    answers: [list(OTHER_PRODUCTS_ROW)],
    logs: MALFORMED,
    attempts: 6,
  },
  {
    when: "a row, and another user's",
    answers: [list(ROW, AMELIAS_ROW)],
    logs: MALFORMED,
    attempts: 6,
  },
  { when: "a row, and null", answers: [list(ROW, null)], logs: MALFORMED, attempts: 6 },
  { when: "a row in no list", answers: [{ status: 200, body: ROW }], logs: MALFORMED, attempts: 6 },

  // Silence is waited for until the 5 s are over, and not asked again.
  { when: "silence", answers: ["silence", list(ROW)], logs: logged(0, "timeout") },
  {
    // What is logged is the 503, because it says more about the cause.
    when: "a 503, then silence",
    answers: [KILLED, "silence", list(ROW)],
    logs: logged(503, "57P01"),
    attempts: 2,
  },

  // Any other failure is final, also if its code is one that may pass with another status.
  { when: "a 206, a part of a list", answers: [{ status: 206, body: [] }], logs: http(206) },
  { when: "a 400 with PGRST303", answers: [error(400, "PGRST303")], logs: logged(400, "PGRST303") },
  { when: "a 401 with an empty code", answers: [error(401, "")], logs: http(401) },
  { when: "a 404 with PGRST205", answers: [error(404, "PGRST205")], logs: logged(404, "PGRST205") },
  // supabase-js would take these two for a success. White space may stand before the list.
  { when: "a 404 with a list", answers: [{ status: 404, body: " \n[]" }], logs: http(404) },
  { when: "a 404 without a body", answers: [{ status: 404, body: "" }], logs: http(404) },
  { when: "a 500 with null", answers: [{ status: 500, body: null }], logs: http(500) },
  { when: "a 501 page", answers: [html(501)], logs: http(501) },

  // A code is logged only if it has the form of a code of PostgreSQL or PostgREST.
  { when: "a code with an X", answers: [error(500, "PGRSTX00")], logs: logged(500, "PGRSTX00") },
  { when: "a code in lower case", answers: [error(400, "42p01")], logs: http(400) },
  { when: "a code with a digit too many", answers: [error(400, "PGRST1000")], logs: http(400) },
  { when: "a code and a line break", answers: [error(400, "42501\n")], logs: http(400) },
  { when: "a code in a list", answers: [error(400, ["42501"])], logs: http(400) },
];

for (const { when, answers, outcome, logs, attempts = 1 } of LOOKUPS) {
  const result = outcome ?? `${logs?.code} with status ${logs?.status} is logged`;
  Deno.test(`lookup: ${when} → ${result}, attempts: ${attempts}`, async () => {
    const seen = await simulate(answers);
    assertEquals(seen.outcome, outcome ?? "lookup_failed");
    const line = { event: "lookup_failed", ...logs, duration_ms: seen.ms };
    assertEquals(seen.log, logs ? [JSON.stringify(line)] : []);
    assertEquals(seen.attemptsAt.length, attempts, "number of attempts");
    assert(seen.ms <= LIMITS.lookupMs, `took ${seen.ms} ms`);
    assertEquals(seen.timers, 0, "number of timers left running");
  });
}

// `LOOKUP.path` has the address of the query.
Deno.test("lookup: asks for the one row, with the secret key, and follows no redirect", async () => {
  const { queries: [query] } = await simulate([list(ROW)]);
  const { url, method, headers, redirect } = query!;
  assertEquals(method + url, "GET" + SUPABASE_URL + LOOKUP.path);
  assertEquals(headers.get("apikey"), "secret key");
  assertEquals(headers.get("Authorization"), "Bearer secret key");
  assertEquals(redirect, "manual");
});

/**
 * When attempts begin, in milliseconds, if `Math.random` always returns this number. They are due at
 * 50, 500, 1,400, 2,850 and 4,300 ms, and each one is delayed by up to 250 ms times that number.
 */
const TIMES: { when: string; answers: Answer[]; random: number; attemptsAt: number[] }[] = [
  {
    when: "each attempt fails at once, with the shortest delays",
    answers: [KILLED],
    random: 0,
    attemptsAt: [0, 50, 500, 1_400, 2_850, 4_300],
  },
  {
    when: "each attempt fails at once, with the longest delays",
    answers: [KILLED],
    random: 1,
    attemptsAt: [0, 300, 750, 1_650, 3_100, 4_550],
  },
  {
    // All others are due by then. One of them begins, after a delay of 0.5 times 250 ms.
    when: "the first attempt fails after 4,600 ms, with a medium delay",
    answers: [{ ...KILLED, afterMs: 4_600 }, "silence"],
    random: 0.5,
    attemptsAt: [0, 4_725],
  },
];

for (const { when, answers, random, attemptsAt } of TIMES) {
  Deno.test(`lookup: ${when} → attempts begin at ${attemptsAt} ms`, async () => {
    const seen = await simulate(answers, { random });
    assertEquals(seen.attemptsAt, attemptsAt);
  });
}

/**
 * Which secret key is sent with each query of a lookup, and when, in milliseconds. The first key is
 * "a", and the second one is "b".
 */
const KEYS: { when: string; answers: Answer[]; sends: string }[] = [
  {
    when: "the first key is rejected",
    answers: [REJECTED, list(ROW)],
    sends: "a at 0, b at 0",
  },
  {
    // That 401 rejects no key.
    when: "there is a PGRST303",
    answers: [JWT_401, list(ROW)],
    sends: "a at 0, a at 175",
  },
  {
    // The key that was not rejected is used for the next attempt.
    when: "the first key is rejected, and the second one gets a 503",
    answers: [REJECTED, KILLED, list(ROW)],
    sends: "a at 0, b at 0, b at 175",
  },
];

for (const { when, answers, sends } of KEYS) {
  Deno.test(`lookup: ${when} → it sends ${sends} ms, and gets a row`, async () => {
    const seen = await simulate(answers, { keys: ["a", "b"] });
    const sent = seen.queries.map((query, nth) =>
      `${query.headers.get("apikey")} at ${seen.attemptsAt[nth]}`
    );
    assertEquals(sent.join(", "), sends);
    assertEquals(seen.outcome, "active");
  });
}

/**
 * What becomes of the pools of connections. `make 1` is that the first pool is made, `ask 1` that a
 * query goes over it, and `close 1` that it is closed.
 */
const POOLS: {
  when: string;
  answers: Answer[];
  /** When lookups begin, in milliseconds: by default, two together, and one later. */
  beginAt?: number[];
  /** How many pools can be made. */
  pools?: number;
  events: string;
}[] = [
  { when: "all lookups get a row", answers: [list(ROW)], events: "make 1, ask 1, ask 1, ask 1" },
  {
    when: "all lookups fail for good",
    answers: [html(403)],
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // A rejected key says nothing against the connection.
    when: "the secret key is rejected",
    answers: [REJECTED],
    events: "make 1, ask 1, ask 1, ask 1",
  },
  {
    // The second attempt already goes over the new pool.
    when: "a single lookup gets a 503, and then a row",
    answers: [KILLED, list(ROW)],
    beginAt: [1_000],
    events: "make 1, ask 1, make 2, close 1, ask 2",
  },
  {
    // A pool is used for 300 ms at least. So the second lookup, whose 503 comes 100 ms after that of
    // the first one, gets no third pool.
    when: "two lookups get a 503 within 100 ms, and then a row",
    answers: [KILLED, KILLED, list(ROW)],
    beginAt: [1_000, 1_100],
    events: "make 1, ask 1, make 2, close 1, ask 2, ask 2, ask 2",
  },
  {
    // The first attempts, at 0 and 175 ms, fail while the pool is too new. The third one, at 625 ms,
    // replaces the pool, and the attempts after it do not, because their lookup began on pool 1.
    when: "a single lookup gets a 503 each time, and begins with the pool",
    answers: [KILLED],
    beginAt: [0],
    events: "make 1, ask 1, ask 1, ask 1, make 2, close 1, ask 2, ask 2, ask 2",
  },
  {
    // No lookup has time for a second attempt. The first two fail at 4,999 and 5,099 ms, on the
    // first pool, and only one of them replaces it. The third begins at 6,000 ms on the second pool,
    // fails, and replaces that.
    when: "all lookups get a 503 after 4,999 ms",
    answers: [{ ...KILLED, afterMs: 4_999 }],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    // This is as with that 503, because silence fails when the 5 s are over.
    when: "all lookups get silence",
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
    // Deno's own connections are then used. They have no number, which is 0 here.
    when: "all lookups get silence, and no pool can be made at all",
    answers: ["silence"],
    pools: 0,
    events: "ask 0, ask 0, ask 0",
  },
];

for (const { when, answers, beginAt = [0, 100, 6_000], pools = 9, events } of POOLS) {
  Deno.test(`lookup: ${when} → pools of connections: ${events}`, async () => {
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
 * Lets lookups begin, and time pass until they have ended. Meanwhile, the computer's wall clock
 * jumps, as a user or a time server may set it. No lookup may depend on that clock.
 */
async function simulate(
  answers: Answer[],
  // When lookups begin, in ms; what `Math.random` returns; how many pools can be made.
  { beginAt = [0], random = 0.5, pools = 9, keys = ["secret key"] } = {},
) {
  // `outcome`, `ms` and `timers` (that still run) are of the lookup that ends last.
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
      const afterMs = typeof answer === "string" ? 0 : answer.afterMs ?? 0;
      if (answer !== "silence" && afterMs === 0) return end();
      const timer = answer === "silence" ? undefined : setTimeout(end, afterMs);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  };
  let made = 0;
  const createHttpClient = () => {
    if (made === pools) throw new TypeError("Deno.createHttpClient is not a function");
    const id = ++made;
    seen.events.push(`make ${id}`);
    return { id, close: () => seen.events.push(`close ${id}`) };
  };

  time.reset();
  Object.assign(globalThis, { fetch });
  Object.assign(Deno, { createHttpClient });
  Math.random = () => random;
  console.error = (line) => seen.log.push(line);
  const lookUp = createLookup(SUPABASE_URL, keys);
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
