/** A Data API that is too busy to respond at once: lookups wait, and give it nothing more to do. */
import { setTimeout as sleep } from "node:timers/promises";
import { assertEquals } from "@std/assert";
import { ACTIVE } from "../support/contract.ts";
import { aRow, startFunctionOnStub } from "../support/data_api_stub.ts";
import { assertResponse, checkAt } from "../support/requests.ts";

/** Queries that the Data API does at once, and milliseconds that each takes. */
const WORKERS = 20;
const QUERY_MS = 100;

/** The Data API stands still from the first caller on. Callers come at half of its capacity. */
const STALL_MS = 3_500;
const CALLERS = 500;
const CALLER_EVERY_MS = 2 * QUERY_MS / WORKERS;

Deno.test("overload: a Data API that stood still gets one query a lookup", async () => {
  // When each worker is free; set below. A query runs to its end even if its caller hangs up: some
  // gateways do not pass that on.
  const freeAt = Array<number>(WORKERS);
  await using edgeFunction = await startFunctionOnStub((response, url) => {
    const now = performance.now();
    const earliestAt = Math.min(...freeAt);
    const doneAt = Math.max(now, earliestAt) + QUERY_MS;
    freeAt[freeAt.indexOf(earliestAt)] = doneAt;
    setTimeout(() => aRow(response, url), doneAt - now);
  });

  freeAt.fill(performance.now() + STALL_MS);
  const callers = Array.from({ length: CALLERS }, async (_, nth) => {
    await sleep(nth * CALLER_EVERY_MS);
    const response = checkAt(edgeFunction.url, crypto.randomUUID(), "a");
    await assertResponse(response, ACTIVE);
  });
  await Promise.all(callers);
  assertEquals(edgeFunction.requests.length, CALLERS);
});
