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
const error = (status: number, code: unknown) => ({ status, body: { code } });
/** What PostgREST sends for the queries in flight when PostgreSQL crashes. */
const CRASH = { status: 400, body: { code: "", message: "" } };
/** What PostgREST sends when its connections to PostgreSQL are killed. */
const KILLED = { status: 503, body: { code: "57P01", message: "terminating" } };
/** What hosted projects send now and then for a valid secret key. */
const JWT_401 = error(401, "PGRST303");
/** What a hosted project sends for a secret key that was deleted. */
const REJECTED = { status: 401, body: { message: "Invalid API key" } };
/** What a gateway sends in place of PostgREST. */
const html = (status: number) => ({ status, body: "<h1>Bad gateway</h1>" });
/** What Deno may pass on as whole, though the connection broke off. */
const CUT = { status: 200, body: "[" };

/** A list of rows of exactly this product and this user is an answer. A lookup has 5,000 ms. */
const SOUND = [
  { when: "a row", answer: list(ROW), outcome: "active" },
  { when: "a row after 4,999 ms", answer: { ...list(ROW), afterMs: 4_999 }, outcome: "active" },
  { when: "an empty list", answer: list(), outcome: "not_found" },
];

for (const { when, answer, outcome } of SOUND) {
  Deno.test(`lookup: ${when} → ${outcome}, after one attempt`, async () => {
    const seen = await simulate([answer]);
    assertEquals([seen.outcome, seen.attemptsAt.length, seen.log.length], [outcome, 1, 0]);
  });
}

/** Transient failures; and the code and status that are logged if they last. */
const TRANSIENT: { when: string; answer: Answer; code: string; status: number }[] = [
  { when: "a drop", answer: "drop", code: "unreachable", status: 0 },
  { when: "a cut list", answer: CUT, code: "malformed", status: 200 },
  { when: "a 502 page", answer: html(502), code: "http_502", status: 502 },
  { when: "a 503 error", answer: KILLED, code: "57P01", status: 503 },
  { when: "a crash error", answer: CRASH, code: "http_400", status: 400 },
  { when: "a PGRST303", answer: JWT_401, code: "PGRST303", status: 401 },
  // Such rows are no answer, whoever's they are: never a yes, and never a no.
  { when: "Amelia's row", answer: list(AMELIAS_ROW), code: "malformed", status: 200 },
  { when: "ZOË's row", answer: list(ROW_IN_CAPITALS), code: "malformed", status: 200 },
  {
    when: "another product's row",
    answer: list(OTHER_PRODUCTS_ROW),
    code: "malformed",
    status: 200,
  },
  { when: "a row, and Amelia's", answer: list(ROW, AMELIAS_ROW), code: "malformed", status: 200 },
  { when: "a row, and null", answer: list(ROW, null), code: "malformed", status: 200 },
  { when: "a row in no list", answer: { status: 200, body: ROW }, code: "malformed", status: 200 },
];

for (const { when, answer, code, status } of TRANSIENT) {
  Deno.test(`lookup: ${when}, and then a row → active, after two attempts`, async () => {
    const seen = await simulate([answer, list(ROW)]);
    assertEquals([seen.outcome, seen.attemptsAt.length, seen.log.length], ["active", 2, 0]);
  });
  Deno.test(`lookup: ${when} each time → ${code} is logged, after six attempts`, async () => {
    const seen = await simulate([answer]);
    assertEquals([seen.outcome, seen.attemptsAt.length], ["lookup_failed", 6]);
    assertLogged(seen, code, status);
  });
}

/** Failures that are final, so that a row, which would come next, is not asked for. */
const FINAL: { when: string; answer: Answer; code: string; status: number }[] = [
  // Silence is waited for until the 5 s are over.
  { when: "silence", answer: "silence", code: "timeout", status: 0 },
  { when: "part of a list", answer: { status: 206, body: [] }, code: "http_206", status: 206 },
  // Codes that are transient with another status.
  { when: "a 400 PGRST303", answer: error(400, "PGRST303"), code: "PGRST303", status: 400 },
  { when: "a 400 page", answer: html(400), code: "http_400", status: 400 },
  { when: "a 429 page", answer: html(429), code: "http_429", status: 429 },
  { when: "a 401 without a code", answer: error(401, ""), code: "http_401", status: 401 },
  // supabase-js would take the last two for a success. White space may stand before JSON.
  {
    when: "a 404 error",
    answer: { status: 404, body: ' \n{"code":"PGRST205"}' },
    code: "PGRST205",
    status: 404,
  },
  { when: "a 404 list", answer: { status: 404, body: " \n[]" }, code: "http_404", status: 404 },
  { when: "an empty 404", answer: { status: 404, body: "" }, code: "http_404", status: 404 },
  { when: "a 500 with null", answer: { status: 500, body: null }, code: "http_500", status: 500 },
  { when: "a 501 page", answer: html(501), code: "http_501", status: 501 },
  // A code is logged only if it has the form of a code of PostgreSQL or PostgREST.
  { when: "PGRSTX00", answer: error(500, "PGRSTX00"), code: "PGRSTX00", status: 500 },
  { when: "a small code", answer: error(400, "42p01"), code: "http_400", status: 400 },
  { when: "PGRST1000", answer: error(400, "PGRST1000"), code: "http_400", status: 400 },
  { when: "a line break", answer: error(400, "42501\n"), code: "http_400", status: 400 },
  { when: "a code in a list", answer: error(400, ["42501"]), code: "http_400", status: 400 },
];

for (const { when, answer, code, status } of FINAL) {
  Deno.test(`lookup: ${when} → ${code} is logged, after one attempt`, async () => {
    const seen = await simulate([answer, list(ROW)]);
    assertEquals([seen.outcome, seen.attemptsAt.length], ["lookup_failed", 1]);
    assertLogged(seen, code, status);
  });
}

// The 503 says more about the cause than the silence.
Deno.test("lookup: a 503, and then silence → the 503 is logged, after two attempts", async () => {
  const seen = await simulate([KILLED, "silence", list(ROW)]);
  assertEquals([seen.outcome, seen.attemptsAt.length], ["lookup_failed", 2]);
  assertLogged(seen, "57P01", 503);
});

/** Fails unless there is one line, which says this. */
function assertLogged(seen: Awaited<ReturnType<typeof simulate>>, code: string, status: number) {
  const line = { event: "lookup_failed", code, status, duration_ms: seen.ms };
  assertEquals(seen.log, [JSON.stringify(line)]);
}

// `LOOKUP.path` has the address of the query.
Deno.test("lookup: asks for the one row, with the secret key, and follows no redirect", async () => {
  const { queries: [query] } = await simulate([list(ROW)]);
  const { url, method, headers, redirect } = query!;
  assertEquals(method + url, "GET" + SUPABASE_URL + LOOKUP.path);
  assertEquals(headers.get("apikey"), "key 1");
  assertEquals(headers.get("Authorization"), "Bearer key 1");
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
  {
    // The second key is tried without a pause.
    when: "the first of two keys is rejected",
    answers: [REJECTED, list(ROW)],
    random: 0,
    attemptsAt: [0, 0],
  },
  {
    // That 401 rejects no key.
    when: "there are two keys, and a PGRST303",
    answers: [JWT_401, list(ROW)],
    random: 0,
    attemptsAt: [0, 50],
  },
  { when: "there are two keys, and a 403", answers: [html(403)], random: 0, attemptsAt: [0] },
];

for (const { when, answers, random, attemptsAt } of TIMES) {
  Deno.test(`lookup: ${when} → queries at ${attemptsAt} ms`, async () => {
    const seen = await simulate(answers, { random, keys: ["key 1", "key 2"] });
    assertEquals(seen.attemptsAt, attemptsAt);
  });
}

/**
 * What becomes of the pools of connections, if lookups begin at these times, in milliseconds. `make 1`
 * is that the first pool is made, `ask 1` that a query goes over it, and `close 1` that it is closed.
 */
const POOLS: {
  when: string;
  answers: Answer[];
  beginAt: number[];
  pools?: number;
  events: string;
}[] = [
  {
    // A rejected key says nothing against the connection.
    when: "the secret key is rejected",
    answers: [REJECTED],
    beginAt: [1_000],
    events: "make 1, ask 1",
  },
  {
    // The second attempt already goes over the new pool.
    when: "a lookup gets a 503, and then a row",
    answers: [KILLED, list(ROW)],
    beginAt: [1_000],
    events: "make 1, ask 1, make 2, close 1, ask 2",
  },
  {
    // A pool is used for 300 ms at least. So the second lookup, whose 503 comes 299 ms after that of
    // the first one, gets no third pool.
    when: "two lookups get a 503 within 299 ms, and then a row",
    answers: [KILLED, list(ROW), KILLED, list(ROW)],
    beginAt: [1_000, 1_299],
    events: "make 1, ask 1, make 2, close 1, ask 2, ask 2, ask 2",
  },
  {
    // The first attempts, at 0 and 175 ms, fail while the pool is too new. The third one, at 625 ms,
    // replaces the pool, and the attempts after it do not, because their lookup began on pool 1.
    when: "a lookup gets a 503 each time, and begins with the pool",
    answers: [KILLED],
    beginAt: [0],
    events: "make 1, ask 1, ask 1, ask 1, make 2, close 1, ask 2, ask 2, ask 2",
  },
  {
    // Silence fails after 5,000 ms. Of the first two lookups, only one replaces the pool.
    when: "two lookups get silence, and so does one that begins later",
    answers: ["silence"],
    beginAt: [0, 100, 6_000],
    events: "make 1, ask 1, ask 1, make 2, close 1, ask 2, make 3, close 2",
  },
  {
    when: "no second pool can be made",
    answers: ["silence"],
    beginAt: [0, 6_000],
    pools: 1,
    events: "make 1, ask 1, ask 1",
  },
  {
    // Deno's own connections are then used. They have no number, which is 0 here.
    when: "no pool can be made at all",
    answers: ["silence"],
    beginAt: [0, 6_000],
    pools: 0,
    events: "ask 0, ask 0",
  },
];

for (const { when, answers, beginAt, pools = 9, events } of POOLS) {
  Deno.test(`lookup: ${when} → pools of connections: ${events}`, async () => {
    const seen = await simulate(answers, { beginAt, pools });
    assertEquals(seen.events.join(", "), events);
  });
}

Deno.test("lookup: 100 lookups within 2 s get a 503 each time → 8 pools of connections are made", async () => {
  const beginAt = Array.from({ length: 100 }, (_, nth) => 20 * nth);
  const { events, log } = await simulate([KILLED], { beginAt });
  assertEquals(events.filter((event) => event.startsWith("make")).length, 8);
  assertEquals(log.length, 100, "number of lines that are logged");
});

/**
 * Lets lookups begin, and time pass until they have ended. The last answer is that to all further
 * queries. Meanwhile, the computer's wall clock jumps, as a user or a time server may set it. No
 * lookup may depend on that clock, take longer than its limit, or leave a timer running.
 */
async function simulate(
  answers: Answer[],
  // When lookups begin, in ms; what `Math.random` returns; how many pools can be made; and the keys.
  { beginAt = [0], random = 0.5, pools = 9, keys = ["key 1"] } = {},
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
    if (answer === "drop") return Promise.reject(new TypeError(answer));
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      if (answer === "silence") return;
      const { status, body, afterMs } = answer;
      // A body that is a text is sent as it stands, any other as JSON.
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const respond = () => resolve(new Response(text, { status }));
      if (afterMs) setTimeout(respond, afterMs);
      else respond();
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
  assert(seen.ms <= LIMITS.lookupMs, `took ${seen.ms} ms`);
  assertEquals(seen.timers, 0, "number of timers left running");
  return seen;
}
