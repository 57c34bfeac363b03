/** Many bodies that come in crumbs, or not at all: whoever sends them keeps nobody else waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import { run } from "../../tools/command.ts";
import { TIMEOUT, TOO_LARGE } from "../support/answers.ts";
import {
  keys,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import { testWith } from "../support/left_out.ts";
import { LIMITS } from "../support/limits.ts";
import { assertIs, exchange, post, residentMb } from "../support/wire.ts";
import { assertServed, medianMs } from "./bystander.ts";

const CRUMB_SENDERS = new URL("crumb_senders.ts", import.meta.url);

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;

/**
 * Fails when others wait for the function under a load, or it takes more memory than the platform has.
 *
 * @param load Begins to load the function, and resolves when that is over.
 */
async function assertServesOthers(
  load: (url: URL) => Promise<void>,
): Promise<void> {
  await using dataApi = startDataApiStub(keys());
  await using edgeFunction = await startFunctionOn(dataApi);
  const { url, pid } = edgeFunction;
  const quietMs = await medianMs(url);

  let peakMb = 0;
  const look = async () => {
    peakMb = Math.max(peakMb, await residentMb(pid));
  };
  const looking = setInterval(() => look().catch(() => {}), 200);
  const loaded = load(url).finally(() => clearInterval(looking));
  // What fails meanwhile is reported by the `await` below.
  loaded.catch(() => {});
  await sleep(1_000);
  await assertServed(url, quietMs);
  await loaded;
  assert(peakMb > 0);
  assert(peakMb < PLATFORM_MB, `${peakMb} MB`);
}

testWith("fair sockets")(
  "load: fourteen that send crumbs without end keep nobody else waiting",
  () =>
    assertServesOthers(async (url) => {
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
