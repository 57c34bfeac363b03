/**
 * For tests of lookups in exact time: no clock runs but the test's, and no network is used. Each
 * lookup asks whether "Zoë & Co." holds a key of the product of `LOOKUP`.
 */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import { createLookup } from "../../supabase/functions/check-username-active/lookup.ts";
import { LIMITS, LOOKUP } from "./contract.ts";

// Each test file runs in an isolate, so what is replaced here need not be put back.
const time = FakeTimers.install({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });

const { project_id, curr_user } = LOOKUP;
export const SUPABASE_URL = "https://abcdefghijklmnopqrst.supabase.co";

/** What comes back for a query. A body that is a text is sent as it stands, any other as JSON. */
export type Answer = { status: number; body: unknown; afterMs?: number } | "silence" | "drop";

export const SILENCE: Answer = "silence"; // With its type, so that tables of tests need none.
/** The row that is asked for, in the list that PostgREST sends. */
export const ROW = { status: 200, body: [{ project_id, curr_user }] };
/** What PostgREST sends when its connections to PostgreSQL are killed. */
export const KILLED = { status: 503, body: { code: "57P01", message: "terminating" } };
/** What hosted projects send now and then for a valid secret key. */
export const JWT_401 = { status: 401, body: { code: "PGRST303" } };
/** What a hosted project sends for a secret key that was deleted. */
export const REJECTED = { status: 401, body: { message: "Invalid API key" } };
/** What a gateway sends in place of PostgREST. */
export const html = (status: number): Answer => ({ status, body: "<h1>Bad gateway</h1>" });

/**
 * Lets lookups begin, and time pass until they have ended. Returns what was seen. Fails if the
 * lookup that ends last takes longer than its limit, or leaves a timer running.
 *
 * @param answers Either a list, with an answer for each query, of which the last one repeats; or a
 * function from the secret key of a query to the answer.
 */
export async function runLookups(
  answers: Answer[] | ((key: string) => Answer),
  {
    beginAt = [0], // When lookups begin, in milliseconds.
    random = 0.5, // What `Math.random` returns.
    canMake = 99, // How many pools of connections can be made.
    keys = ["key 1"],
  } = {},
) {
  // `outcome`, `tookMs` and `timersLeft` are of the lookup that ends last. A query goes over a pool
  // of connections: 1 is the first one that was made, and 0 is Deno's own.
  const seen = {
    outcome: "has not ended",
    tookMs: NaN,
    timersLeft: NaN,
    queries: [] as { atMs: number; pool: number; key: string; request: Request }[],
    openPools: [] as number[],
    log: [] as string[],
  };
  const fetch = (url: string, init: Request & { client?: { pool: number } }) => {
    const [key, pool] = [init.headers.get("apikey")!, init.client?.pool ?? 0];
    const query = { atMs: performance.now(), pool, key, request: { ...init, url } };
    const nth = seen.queries.push(query);
    const answer = Array.isArray(answers) ? answers[nth - 1] ?? answers.at(-1)! : answers(key);
    if (answer === "drop") return Promise.reject(new TypeError(answer));
    return new Promise((resolve, reject) => {
      init.signal.addEventListener("abort", () => reject(init.signal.reason));
      if (answer === "silence") return;
      const { status, body, afterMs } = answer;
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const respond = () => resolve(new Response(text, { status }));
      if (afterMs) setTimeout(respond, afterMs);
      else respond();
    });
  };
  let made = 0;
  const createHttpClient = (options: unknown) => {
    assertEquals(options, { poolIdleTimeout: 10_000 }); // In milliseconds.
    if (made === canMake) throw new TypeError("Deno.createHttpClient is not a function");
    const pool = ++made;
    seen.openPools.push(pool);
    return { pool, close: () => seen.openPools = seen.openPools.filter((open) => open !== pool) };
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
      seen.tookMs = performance.now() - beginMs;
      seen.timersLeft = time.countTimers();
    }, beginMs);
  }
  // Meanwhile, the computer's wall clock jumps, as a user or a time server may set it.
  for (const wallClockMs of [1e13, 0, 1e13]) {
    time.setSystemTime(wallClockMs);
    await time.tickAsync(4_000); // 12 s in all.
  }
  assert(seen.tookMs <= LIMITS.lookupMs, `took ${seen.tookMs} ms`);
  assertEquals(seen.timersLeft, 0, "number of timers left running");
  return seen;
}
