/** When a lookup asks the Data API, and with which secret key, in exact time. */
import { assert, assertEquals } from "@std/assert";
import * as lookups from "../support/lookups.ts";

const { html, JWT_401, KILLED, REJECTED, ROW, runLookups, SILENCE } = lookups;

/**
 * When a lookup with two secret keys sends its queries, in milliseconds, if `Math.random` always
 * returns `random`. After the first one, attempts are due at 50, 500, 1,400, 2,850 and 4,300 ms, and
 * each of them is delayed by 250 ms times `random`.
 */
const TIMES = [
  { when: "only 503s", answers: [KILLED], random: 0, at: [0, 50, 500, 1_400, 2_850, 4_300] },
  { when: "only 503s", answers: [KILLED], random: 1, at: [0, 300, 750, 1_650, 3_100, 4_550] },
  {
    // By then, all other attempts are due. One of them begins, after a delay of 0.5 times 250 ms.
    when: "a 503 after 4,600 ms, and then silence",
    answers: [{ ...KILLED, afterMs: 4_600 }, SILENCE],
    random: 0.5,
    at: [0, 4_725],
  },
  // The second key is tried without a pause.
  { when: "a rejected key, and then a row", answers: [REJECTED, ROW], random: 0, at: [0, 0] },
  // PGRST303 does not mean that the secret key is rejected.
  { when: "a PGRST303, and then a row", answers: [JWT_401, ROW], random: 0, at: [0, 50] },
  { when: "a 403", answers: [html(403)], random: 0, at: [0] },
];

for (const { when, answers, random, at } of TIMES) {
  Deno.test(`attempts: ${when}, random ${random} → queries at ${at} ms`, async () => {
    const { queries } = await runLookups(answers, { random, keys: ["key 1", "key 2"] });
    assertEquals(queries.map(({ atMs }) => atMs), at);
  });
}

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
  const asks = (nth: number) => queries.filter(({ atMs }) => Math.floor(atMs / 1_000) === nth);
  assertEquals(
    KEYS.map((_, nth) => asks(nth).map(({ key }) => key).join("")),
    KEYS.map(({ asks }) => asks),
  );
  assertEquals(log.length, 1, "failed lookups");
  assert(queries.every(({ pool }) => pool === 1), "a rejected key brings new connections");
});

// If each of the lookups that A's 401 reaches moved on by one key, 41 moves would not end at B.
Deno.test("attempts: 41 lookups that a key rejects at once go on to the same key", async () => {
  const answer = (key: string) => ({ ...(key === "B" ? ROW : REJECTED), afterMs: 10 });
  const beginAt = [...Array(41).fill(0), 1_000];
  const { queries } = await runLookups(answer, { beginAt, keys: ["A", "B", "C"] });
  assertEquals(queries.map(({ key }) => key).join(""), "A".repeat(41) + "B".repeat(42));
});
