/** What many callers cost: the others their time, and the function its memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "@std/assert";
import * as RESPONSES from "../support/contract.ts";
import { LIMITS } from "../support/contract.ts";
import { aRow, startFunctionOnStub } from "../support/data_api_stub.ts";
import { testWith } from "../support/left_out.ts";
import { assertResponse, check, send } from "../support/requests.ts";
import {
  assertIs,
  exchange,
  flood,
  hangUp,
  post,
  residentMb,
} from "../support/wire.ts";

const { ACTIVE, METHOD_NOT_ALLOWED, TIMEOUT, TOO_LARGE } = RESPONSES;

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;

/** How many times as long a response may take under load. Without limits, it is thousands of times. */
const MAX_SLOWDOWN = 20;

/** Asks twenty times, and gives the median time that a 200 took, in milliseconds. */
async function medianMs(url: URL): Promise<number> {
  const tookMs: number[] = [];
  for (let asked = 0; asked < 20; asked++) {
    const startedAt = performance.now();
    await assertResponse(check(crypto.randomUUID(), "a", url), ACTIVE);
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs.sort((a, b) => a - b)[10] ?? NaN;
}

/**
 * Fails when others wait for the function under a load, or it takes more memory than the platform has.
 *
 * @param load Begins to load the function, and resolves when that is over.
 */
async function assertServesOthers(
  load: (url: URL) => Promise<unknown>,
): Promise<void> {
  await using edgeFunction = await startFunctionOnStub(aRow);
  const { url, pid } = edgeFunction;
  const quietMs = await medianMs(url);

  let peakMb = 0;
  let isOver = false;
  const loaded = load(url).finally(() => isOver = true);
  const watched = (async () => {
    while (!isOver) {
      peakMb = Math.max(peakMb, await residentMb(pid));
      await sleep(200);
    }
  })();
  const measured = sleep(1_000).then(() => medianMs(url));
  const [loadedMs] = await Promise.all([measured, loaded, watched]);
  const times = `${loadedMs.toFixed(1)} ms, and ${quietMs.toFixed(1)} before`;
  console.log(`${times}; ${peakMb} MB`);
  assert(loadedMs < MAX_SLOWDOWN * quietMs, times);
  assert(peakMb > 0 && peakMb < PLATFORM_MB, `${peakMb} MB`);
}

testWith("fair sockets")(
  "load: fourteen who send single bytes without end keep nobody else waiting",
  () =>
    assertServesOthers(async (url) => {
      const singleBytes = "1\r\nx\r\n".repeat(2_000);
      const endsAt = performance.now() + 8_000;
      await Promise.all(Array.from({ length: 14 }, async () => {
        while (performance.now() < endsAt) {
          assertIs(await flood(url, singleBytes), TOO_LARGE);
        }
      }));
    }),
);

testWith("the memory of a process")(
  "load: hundreds of half-sent bodies are each a 408, and keep nobody else waiting",
  () =>
    assertServesOthers(async (url) => {
      const spaces = " ".repeat(LIMITS.bodyBytes / 2);
      const half = async (headers: string, sent: string) =>
        assertIs(await exchange(url, post(headers) + sent), TIMEOUT);
      await Promise.all(
        Array.from({ length: 200 }, () => [
          half("Content-Length: 16000", spaces),
          half("Transfer-Encoding: chunked", `3e80\r\n${spaces}`),
        ]).flat(),
      );
    }),
);

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

// A heap of 24 MB ends the process when each request leaves a kilobyte, and keeps the rest of the
// memory within a megabyte from run to run. 50,000 requests take two minutes.
const REQUESTS = Number(Deno.env.get("LOAD_REQUESTS") ?? 6_000);
const MEMORY_GROWTH_MB = 8;

testWith("the memory of a process")(
  `load: ${REQUESTS} mixed requests leave no memory behind`,
  async () => {
    const options = { heapMb: 24 };
    await using edgeFunction = await startFunctionOnStub(aRow, options);
    const { url, pid, requests } = edgeFunction;
    const longest = "🛩".repeat(LIMITS.name);
    const tooLarge = { body: "x".repeat(2 * LIMITS.bodyBytes) };
    const mixed = [
      () => assertResponse(check(PRODUCT, "a", url), ACTIVE),
      () => assertResponse(check(PRODUCT, longest, url), ACTIVE),
      () => assertResponse(check("no UUID", "a", url), RESPONSES.INVALID),
      () => assertResponse(send({}, url), RESPONSES.MISSING),
      () => assertResponse(send({ body: "{" }, url), RESPONSES.INVALID_JSON),
      () => assertResponse(send(tooLarge, url), TOO_LARGE),
      () => assertResponse(send({ method: "GET" }, url), METHOD_NOT_ALLOWED),
      () => hangUp(url, post("Content-Length: 100") + "{"),
    ];
    const run = async (count: number) => {
      let sent = 0;
      await Promise.all(Array.from({ length: 16 }, async () => {
        while (sent < count) await mixed[sent++ % mixed.length]?.();
      }));
      requests.length = 0;
      return await residentMb(pid);
    };

    // The heap finds its size during the first.
    const beforeMb = await run(REQUESTS);
    const afterMb = await run(REQUESTS);
    const memory = `resident memory: ${beforeMb} MB, then ${afterMb} MB`;
    console.log(memory);
    assert(afterMb - beforeMb < MEMORY_GROWTH_MB, memory);
  },
);
