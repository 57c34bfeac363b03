/** What many callers cost: the others their time, and the function its memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "@std/assert";
import * as RESPONSES from "../support/contract.ts";
import { ACTIVE, LIMITS, TOO_LARGE } from "../support/contract.ts";
import { aRow, startFunctionOnStub } from "../support/data_api_stub.ts";
import { testWith } from "../support/left_out.ts";
import * as requests from "../support/requests.ts";
import { residentMb } from "../support/start_process.ts";

const { assertExchange, assertResponse, check, exchange, post } = requests;

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;

/** How many times as long a response may take under load. Without limits, it is thousands of times. */
const MAX_SLOWDOWN = 20;

/** Asks twenty times, and returns the median time that a 200 took, in milliseconds. */
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
 * Fails if others wait for the function under a load, or if it takes more memory than the platform has.
 *
 * @param load Loads the function, and resolves when that is over.
 */
async function assertServesOthers(load: (url: URL) => Promise<unknown>) {
  await using edgeFunction = await startFunctionOnStub(aRow);
  const { url, pid } = edgeFunction;
  const quietMs = await medianMs(url);

  let peakMb = 0;
  let isOver = false;
  const measureMemory = async () => {
    for (; !isOver; await sleep(200)) {
      peakMb = Math.max(peakMb, await residentMb(pid));
    }
  };
  const [loadedMs] = await Promise.all([
    sleep(1_000).then(() => medianMs(url)),
    load(url).finally(() => isOver = true),
    measureMemory(),
  ]);
  const times = `${loadedMs.toFixed(1)} ms, and ${quietMs.toFixed(1)} before`;
  console.log(`${times}; ${peakMb} MB`);
  assert(loadedMs < MAX_SLOWDOWN * quietMs, times);
  assert(peakMb > 0 && peakMb < PLATFORM_MB, `${peakMb} MB`);
}

/** A request whose body is single bytes without end. */
function* endlessBytes() {
  yield post("Transfer-Encoding: chunked");
  for (;;) yield "1\r\nx\r\n".repeat(2_000);
}

testWith("fair sockets")(
  "load: fourteen callers who send single bytes without end delay nobody else",
  () =>
    assertServesOthers(async (url) => {
      const endsAt = performance.now() + 8_000;
      await Promise.all(Array.from({ length: 14 }, async () => {
        while (performance.now() < endsAt) {
          assertExchange(await exchange(url, endlessBytes()), TOO_LARGE);
        }
      }));
    }),
);

testWith("the memory of a process")(
  "load: hundreds of half-sent bodies delay nobody else, and each gets a 408",
  () =>
    assertServesOthers(async (url) => {
      const half = " ".repeat(LIMITS.bodyBytes / 2);
      const halfSent = [
        post("Content-Length: 16000") + half,
        `${post("Transfer-Encoding: chunked")}3e80\r\n${half}`,
      ];
      await Promise.all(Array.from({ length: 400 }, async (_, nth) => {
        const text = await exchange(url, halfSent[nth % 2] ?? "");
        assertExchange(text, RESPONSES.TIMEOUT);
      }));
    }),
);

// With a heap of 24 MB, the process ends if each request leaves a kilobyte behind, and the rest of
// its memory stays within a megabyte from run to run. 50,000 requests take two minutes.
const REQUESTS = Number(Deno.env.get("LOAD_REQUESTS") ?? 6_000);
const MAX_GROWTH_MB = 8;

testWith("the memory of a process")(
  `load: ${REQUESTS} mixed requests leave no memory behind`,
  async () => {
    await using edgeFunction = await startFunctionOnStub(aRow, { heapMb: 24 });
    const { url, pid } = edgeFunction;
    const product = crypto.randomUUID();
    const longest = "🛩".repeat(LIMITS.name);
    const tooLarge = "x".repeat(2 * LIMITS.bodyBytes);
    const send = (init: RequestInit) => requests.send(init, url);
    const mixed = [
      () => assertResponse(check(product, "a", url), ACTIVE),
      () => assertResponse(check(product, longest, url), ACTIVE),
      () => assertResponse(check("no UUID", "a", url), RESPONSES.INVALID),
      () => assertResponse(send({}), RESPONSES.MISSING),
      () => assertResponse(send({ body: "{" }), RESPONSES.INVALID_JSON),
      () => assertResponse(send({ body: tooLarge }), TOO_LARGE),
      () =>
        assertResponse(send({ method: "GET" }), RESPONSES.METHOD_NOT_ALLOWED),
      () => requests.hangUp(url, post("Content-Length: 100") + "{"),
    ];
    const run = async () => {
      let sent = 0;
      await Promise.all(Array.from({ length: 16 }, async () => {
        while (sent < REQUESTS) await mixed[sent++ % mixed.length]?.();
      }));
      edgeFunction.requests.length = 0;
      return await residentMb(pid);
    };

    // The heap reaches its size during the first run.
    const beforeMb = await run();
    const afterMb = await run();
    const memory = `resident memory: ${beforeMb} MB, then ${afterMb} MB`;
    console.log(memory);
    assert(afterMb - beforeMb < MAX_GROWTH_MB, memory);
  },
);
