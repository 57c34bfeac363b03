/**
 * Which pool of connections a query goes over, in exact time: a failure that may pass replaces the
 * pool. (`real_connections_test.ts` shows that this heals connections that have gone bad.)
 */
import { assertEquals } from "@std/assert";
import { KILLED, REJECTED, ROW, runLookups, SILENCE } from "../support/lookups.ts";

/**
 * When lookups begin, in milliseconds; over which pool each of their queries goes; and which pools
 * are open in the end. The first pool that is made is 1, and Deno's own is 0. `canMake` is how many
 * pools can be made.
 */
const POOLS = [
  // A rejected key says nothing against the connection.
  { when: "a rejected key", answers: [REJECTED], beginAt: [1_000], asksOver: [1], open: [1] },
  // The second attempt already goes over the new pool.
  {
    when: "a 503, and then a row",
    answers: [KILLED, ROW],
    beginAt: [1_000],
    asksOver: [1, 2],
    open: [2],
  },
  {
    // A pool is used for 300 ms at least. So the second lookup, whose 503 comes 299 ms after that of
    // the first one, gets no third pool.
    when: "two 503s within 299 ms, each followed by a row",
    answers: [KILLED, ROW, KILLED, ROW],
    beginAt: [1_000, 1_299],
    asksOver: [1, 2, 2, 2],
    open: [2],
  },
  // The first attempts, at 0 and 175 ms, fail while the pool is under 300 ms old. The third, at 625 ms,
  // replaces the pool, and the attempts after it do not, because their lookup began on pool 1.
  { when: "only 503s", answers: [KILLED], beginAt: [0], asksOver: [1, 1, 1, 2, 2, 2], open: [2] },
  // Silence fails after 5,000 ms. Of the first two lookups, only one replaces the pool, and the third
  // one replaces pool 2.
  { when: "silence", answers: [SILENCE], beginAt: [0, 100, 6_000], asksOver: [1, 1, 2], open: [3] },
  {
    when: "no other pool",
    answers: [SILENCE],
    canMake: 1,
    beginAt: [0, 6_000],
    asksOver: [1, 1],
    open: [1],
  },
  {
    when: "no pool at all",
    answers: [SILENCE],
    canMake: 0,
    beginAt: [0, 6_000],
    asksOver: [0, 0],
    open: [],
  },
];

for (const { when, answers, beginAt, canMake = 99, asksOver, open } of POOLS) {
  Deno.test(`connections: ${when} → queries go over the pools ${asksOver}, and replaced ones are closed`, async () => {
    const seen = await runLookups(answers, { beginAt, canMake });
    assertEquals(seen.queries.map(({ pool }) => pool), asksOver);
    assertEquals<number[]>(seen.openPools, open, "open pools");
  });
}

Deno.test("connections: 100 lookups within 2 s get a 503 each time → 8 pools are made", async () => {
  const beginAt = Array.from({ length: 100 }, (_, nth) => 20 * nth);
  const { queries, log } = await runLookups([KILLED], { beginAt });
  assertEquals(new Set(queries.map(({ pool }) => pool)).size, 8);
  assertEquals(log.length, 100, "number of lines that are logged");
});
