/**
 * When a lookup asks the Data API, over which pool of connections, and with which secret key, in
 * exact time. (`real_connections_test.ts` shows that a new pool heals connections that went bad.)
 */
import { assert, assertEquals } from "@std/assert";
import * as lookups from "../support/lookups.ts";

const { html, JWT_401, KILLED, REJECTED, ROW, runLookups, SILENCE } = lookups;

type Given = { answers: lookups.Answer[]; begin?: number[]; random?: number; canMake?: number };
type Then = { at: number[]; over: number[]; open?: number[] };
/**
 * Tests when each query is sent, over which pool of connections, and which pools are open in the
 * end: that of the last query, if nothing else is said. The last answer repeats.
 *
 * The attempts of a lookup are due 0, 50, 500, 1,400, 2,850 and 4,300 ms after its beginning. Each
 * of them, except the first, is delayed by 250 ms times `random`, which `Math.random` returns.
 * Pool 1 is made at 0 ms, and pool 0 is Deno's own. At most `canMake` pools can be made. A failure
 * that may pass replaces a pool that is at least 300 ms old.
 */
function test(when: string, { begin = [0], ...given }: Given, { at, over, open }: Then) {
  Deno.test(`attempts: ${when} → at ${at} ms`, async () => {
    const options = { beginAt: begin, random: 0, ...given, keys: ["key 1", "key 2"] };
    const { queries, openPools } = await runLookups(given.answers, options);
    assertEquals(queries.map(({ atMs }) => atMs), at);
    assertEquals(queries.map(({ pool }) => pool), over, "pools");
    assertEquals(openPools, open ?? over.slice(-1), "open pools");
  });
}

// At 300 ms, pool 1 is replaced. A lookup replaces one pool at most.
test("only 503s, with the longest delays", { answers: [KILLED], random: 1 }, {
  at: [0, 300, 750, 1_650, 3_100, 4_550],
  over: [1, 1, 2, 2, 2, 2],
});
test("a 503 after 4,600 ms, when all other attempts are due, and then silence", {
  answers: [{ ...KILLED, afterMs: 4_600 }, SILENCE],
  random: 1,
}, { at: [0, 4_850], over: [1, 2] });
test("a rejected key, and then a row: the second key is tried at once, over the same pool", {
  answers: [REJECTED, ROW],
  begin: [1_000],
}, { at: [1_000, 1_000], over: [1, 1] });
test("a PGRST303, and then a row", { answers: [JWT_401, ROW] }, { at: [0, 50], over: [1, 1] });
test("a 403, which is final", { answers: [html(403)] }, { at: [0], over: [1] });
test("a 503 in two lookups within 299 ms, each followed by a row", {
  answers: [KILLED, ROW, KILLED, ROW],
  begin: [1_000, 1_299],
}, { at: [1_000, 1_050, 1_299, 1_349], over: [1, 2, 2, 2] });
test("a 503 in two lookups 300 ms apart, each followed by a row", {
  answers: [KILLED, ROW, KILLED, ROW],
  begin: [1_000, 1_300],
}, { at: [1_000, 1_050, 1_300, 1_350], over: [1, 2, 2, 3] });
test("silence: of two lookups that fail together one replaces the pool, and a later one again", {
  answers: [SILENCE],
  begin: [0, 100, 6_000],
}, { at: [0, 100, 6_000], over: [1, 1, 2], open: [3] });
const SILENT = { answers: [SILENCE], begin: [0, 6_000] };
test("silence, and no second pool", { ...SILENT, canMake: 1 }, { at: [0, 6_000], over: [1, 1] });
test("silence, and no pool", { ...SILENT, canMake: 0 }, { at: [0, 6_000], over: [0, 0], open: [] });

/** Seconds one after the other: which of the keys A, B and C are valid, and which a lookup asks. */
const KEYS = [
  { valid: "ABC", asks: "A" },
  { valid: "BC", asks: "AB" }, // A is rejected, so B is tried, and used from then on.
  { valid: "BC", asks: "B" },
  { valid: "A", asks: "BCA" }, // After the last key comes the first one again.
  { valid: "", asks: "ABC" }, // All are rejected, so the lookup fails.
  { valid: "C", asks: "ABC" },
];

Deno.test("attempts: the key in use is used until it is rejected, then the next one", async () => {
  const second = () => Math.floor(performance.now() / 1_000);
  const answer = (key: string) => KEYS[second()]!.valid.includes(key) ? ROW : REJECTED;
  const beginAt = KEYS.map((_, nth) => 1_000 * nth);
  const { queries, log } = await runLookups(answer, { beginAt, keys: ["A", "B", "C"] });
  const asked = (nth: number) => queries.filter(({ atMs }) => Math.floor(atMs / 1_000) === nth);
  const keys = KEYS.map((_, nth) => asked(nth).map(({ key }) => key).join(""));
  assertEquals(keys, KEYS.map(({ asks }) => asks));
  assertEquals(log.length, 1, "failed lookups");
  assert(queries.every(({ pool }) => pool === 1), "a rejected key brings new connections");
});

// If each rejected lookup moved on by one key, 41 lookups would not all end at B.
Deno.test("attempts: 41 lookups that a key rejects at once go on to the same key", async () => {
  const answer = (key: string) => ({ ...(key === "B" ? ROW : REJECTED), afterMs: 10 });
  const beginAt = [...Array(41).fill(0), 1_000];
  const { queries } = await runLookups(answer, { beginAt, keys: ["A", "B", "C"] });
  assertEquals(queries.map(({ key }) => key).join(""), "A".repeat(41) + "B".repeat(42));
});
