/** Many bodies that come in crumbs, or not at all: whoever sends them keeps nobody else waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import { run } from "../../tools/command.ts";
import { ACTIVE, LIMITS, TIMEOUT, TOO_LARGE } from "../support/contract.ts";
import {
  keys,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import { testWith } from "../support/left_out.ts";
import { assertResponse, check } from "../support/requests.ts";
import { assertIs, exchange, post, residentMb } from "../support/wire.ts";

const CRUMB_SENDERS = new URL("crumb_senders.ts", import.meta.url);

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;

/** How much longer a response may take under load. Without limits, it was thousands of times. */
const PATIENCE = 200;

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
  load: (url: URL) => Promise<void>,
): Promise<void> {
  await using dataApi = await startDataApiStub(keys());
  await using edgeFunction = await startFunctionOn(dataApi);
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
  await sleep(1_000);
  const [loadedMs] = await Promise.all([medianMs(url), loaded, watched]);
  const times = `${loadedMs.toFixed(1)} ms, and ${quietMs.toFixed(1)} before`;
  assert(loadedMs < PATIENCE * quietMs, times);
  assert(peakMb > 0 && peakMb < PLATFORM_MB, `${peakMb} MB`);
}

testWith("fair sockets")(
  "load: fourteen that send crumbs without end keep nobody else waiting",
  () =>
    assertServesOthers(async (url) => {
      // In a process of its own: the others' times are taken in this one.
      const script = ["run", "--no-config", "--allow-net", CRUMB_SENDERS.href];
      const { stdout, stderr } = await run(
        Deno.execPath(),
        [...script, url.href, "14", "8"],
      );
      const statuses: string[] = JSON.parse(stdout || stderr);
      assert(statuses.length >= 14, stdout);
      assertEquals(new Set(statuses), new Set([`${TOO_LARGE.status}`]));
    }),
);

testWith("/proc or ps")(
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
