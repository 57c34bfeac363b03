/**
 * Which pool of connections a query goes over, in exact time: a failure that may pass replaces the
 * pool. (`real_connections_test.ts` shows that this heals connections that have gone bad.)
 */
import { assertEquals } from "@std/assert";
import { type Answer, KILLED, REJECTED, ROW, runLookups, SILENCE } from "../support/lookups.ts";

/**
 * When lookups begin, in milliseconds; at which time, and over which pool, each query is then sent;
 * and which pools are open in the end. The attempts of a lookup begin 0, 175, 625, 1,525, 2,975 and
 * 4,425 ms after it. The first pool that is made is 1, and Deno's own is 0. `canMake` is how many
 * pools can be made.
 */
const POOLS: {
  when: string;
  gets: Answer[];
  canMake?: number;
  at: number[];
  sent: string;
  open: number[];
}[] = [
  // A rejected secret key does not replace the pool.
  { when: "a rejected key", gets: [REJECTED], at: [1_000], sent: "1000 over 1", open: [1] },
  // The second attempt already goes over the new pool.
  { when: "a 503", gets: [KILLED, ROW], at: [1_000], sent: "1000 over 1, 1175 over 2", open: [2] },
  {
    // A pool has to be 300 ms old. The second lookup's 503 comes 299 ms after pool 2 was made.
    when: "two 503s within 299 ms, each followed by a row",
    gets: [KILLED, ROW, KILLED, ROW],
    at: [1_000, 1_299],
    sent: "1000 over 1, 1175 over 2, 1299 over 2, 1474 over 2",
    open: [2],
  },
  // The second lookup's 503 comes 300 ms after pool 2 was made, and so it replaces that pool.
  {
    when: "503s 300 ms apart, each followed by a row",
    gets: [KILLED, ROW, KILLED, ROW],
    at: [1_000, 1_300],
    sent: "1000 over 1, 1175 over 2, 1300 over 2, 1475 over 3",
    open: [3],
  },
  {
    // The attempts at 0 and 175 ms fail while the pool is under 300 ms old. The attempt at 625 ms
    // replaces the pool, and those after it do not, because their lookup began on pool 1.
    when: "only 503s",
    gets: [KILLED],
    at: [0],
    sent: "0 over 1, 175 over 1, 625 over 1, 1525 over 2, 2975 over 2, 4425 over 2",
    open: [2],
  },
  // Silence fails after 5,000 ms. Of the lookups at 0 and 100 ms, only one replaces the pool.
  {
    when: "silence",
    gets: [SILENCE],
    at: [0, 100, 6_000],
    sent: "0 over 1, 100 over 1, 6000 over 2",
    open: [3],
  },
  {
    when: "no second pool",
    gets: [SILENCE],
    canMake: 1,
    at: [0, 6_000],
    sent: "0 over 1, 6000 over 1",
    open: [1],
  },
  {
    when: "no pool at all",
    gets: [SILENCE],
    canMake: 0,
    at: [0, 6_000],
    sent: "0 over 0, 6000 over 0",
    open: [],
  },
];

for (const { when, gets, at, canMake = 99, sent, open } of POOLS) {
  Deno.test(`connections: ${when} → queries at ${sent}`, async () => {
    const { queries, openPools } = await runLookups(gets, { beginAt: at, canMake });
    assertEquals(queries.map(({ atMs, pool }) => `${atMs} over ${pool}`).join(", "), sent);
    assertEquals(openPools, open, "open pools");
  });
}
