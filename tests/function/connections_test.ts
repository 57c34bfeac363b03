/**
 * Which pool of connections a query goes over, in exact time: a failure that may pass replaces the
 * pool. (`real_connections_test.ts` shows that this heals connections that have gone bad.)
 */
import { assertEquals } from "@std/assert";
import { type Answer, KILLED, REJECTED, ROW, runLookups, SILENCE } from "../support/lookups.ts";

/**
 * When lookups begin, in milliseconds; when each query is sent, with the pool that it goes over; and
 * which pools are open in the end. The attempts of a lookup begin 0, 175, 625, 1,525, 2,975 and
 * 4,425 ms after it. The first pool that is made is 1, and Deno's own is 0. `canMake` is how many
 * pools can be made.
 */
const POOLS: {
  when: string;
  answers: Answer[];
  canMake?: number;
  beginAt: number[];
  sent: [atMs: number, pool: number][];
  open: number[];
}[] = [
  // A rejected secret key does not replace the pool.
  { when: "a rejected key", answers: [REJECTED], beginAt: [1_000], sent: [[1000, 1]], open: [1] },
  // The second attempt already goes over the new pool.
  {
    when: "a 503, and then a row",
    answers: [KILLED, ROW],
    beginAt: [1_000],
    sent: [[1000, 1], [1175, 2]],
    open: [2],
  },
  {
    // A pool has to be 300 ms old. The second lookup's 503 comes 299 ms after pool 2 was made.
    when: "two 503s within 299 ms, each followed by a row",
    answers: [KILLED, ROW, KILLED, ROW],
    beginAt: [1_000, 1_299],
    sent: [[1000, 1], [1175, 2], [1299, 2], [1474, 2]],
    open: [2],
  },
  {
    // The attempts at 0 and 175 ms fail while the pool is under 300 ms old. The attempt at 625 ms
    // replaces the pool, and those after it do not, because their lookup began on pool 1.
    when: "only 503s",
    answers: [KILLED],
    beginAt: [0],
    sent: [[0, 1], [175, 1], [625, 1], [1525, 2], [2975, 2], [4425, 2]],
    open: [2],
  },
  {
    // Silence fails after 5,000 ms. Of the first two lookups, only one replaces the pool, and the
    // third one replaces pool 2.
    when: "silence",
    answers: [SILENCE],
    beginAt: [0, 100, 6_000],
    sent: [[0, 1], [100, 1], [6000, 2]],
    open: [3],
  },
  {
    when: "silence, and no second pool can be made",
    answers: [SILENCE],
    canMake: 1,
    beginAt: [0, 6_000],
    sent: [[0, 1], [6000, 1]],
    open: [1],
  },
  {
    when: "silence, and no pool can be made",
    answers: [SILENCE],
    canMake: 0,
    beginAt: [0, 6_000],
    sent: [[0, 0], [6000, 0]],
    open: [],
  },
];

for (const { when, answers, beginAt, canMake = 99, sent, open } of POOLS) {
  Deno.test(`connections: ${when} → queries over pools ${sent.map(([, pool]) => pool)}`, async () => {
    const { queries, openPools } = await runLookups(answers, { beginAt, canMake });
    assertEquals(queries.map(({ atMs, pool }) => [atMs, pool]), sent);
    assertEquals(openPools, open, "open pools");
  });
}

Deno.test("connections: 100 lookups within 2 s get a 503 each time → queries over 8 pools", async () => {
  const beginAt = Array.from({ length: 100 }, (_, nth) => 20 * nth);
  const { queries, log } = await runLookups([KILLED], { beginAt });
  assertEquals(new Set(queries.map(({ pool }) => pool)).size, 8);
  assertEquals(log.length, 100, "number of lines that are logged");
});
