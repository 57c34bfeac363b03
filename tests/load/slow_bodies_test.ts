/** Many bodies that come in crumbs, or not at all: whoever sends them keeps nobody else waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { TIMEOUT, TOO_LARGE } from "../support/answers.ts";
import {
  keys,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import { testWith } from "../support/left_out.ts";
import { LIMITS } from "../support/limits.ts";
import { exchange, post, residentMb } from "../support/wire.ts";
import { assertServed, medianMs } from "./bystander.ts";

const CRUMB_SENDERS = new URL("crumb_senders.ts", import.meta.url);

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;

/** The most that a process has taken while it was looked at, in MB. */
function watchMemory(pid: number) {
  const memory = { peakMb: 0 };
  const look = async () => {
    memory.peakMb = Math.max(memory.peakMb, await residentMb(pid));
  };
  const timer = setInterval(() => look().catch(() => {}), 200);
  return { memory, [Symbol.dispose]: () => clearInterval(timer) };
}

testWith("fair sockets")(
  "load: fourteen that send crumbs without end keep nobody else waiting",
  async () => {
    await using dataApi = startDataApiStub(keys());
    await using edgeFunction = await startFunctionOn(dataApi);
    const { url, pid } = edgeFunction;
    const quietMs = await medianMs(url);

    using watched = watchMemory(pid);
    const script = ["run", "--no-config", "--allow-net", CRUMB_SENDERS.href];
    const senders = run(Deno.execPath(), [...script, url.href, "14", "8"]);
    await sleep(500);
    await assertServed(url, quietMs);
    const { stdout, stderr } = await senders;
    const statuses: string[] = JSON.parse(stdout || stderr);
    assert(statuses.length >= 14, stdout);
    assertEquals(new Set(statuses), new Set([`${TOO_LARGE.status}`]));
    assert(watched.memory.peakMb > 0);
    assert(watched.memory.peakMb < PLATFORM_MB, `${watched.memory.peakMb} MB`);
  },
);

testWith("/proc or ps")(
  "load: hundreds of half-sent bodies are each a 408, and keep nobody else waiting",
  async () => {
    await using dataApi = startDataApiStub(keys());
    await using edgeFunction = await startFunctionOn(dataApi);
    const { url, pid } = edgeFunction;
    const quietMs = await medianMs(url);

    using watched = watchMemory(pid);
    const half = async (headers: string, sent: string) => {
      const text = await exchange(url, post(headers) + sent);
      assert(text.startsWith(`HTTP/1.1 ${TIMEOUT.status} `), text);
      assertStringIncludes(text, JSON.stringify(TIMEOUT.body));
    };
    const spaces = " ".repeat(LIMITS.bodyBytes / 2);
    const waiting = Promise.all(
      Array.from({ length: 200 }, () => [
        half("Content-Length: 16000", spaces),
        half("Transfer-Encoding: chunked", `3e80\r\n${spaces}`),
      ]).flat(),
    );
    // What fails meanwhile is reported by the `await` below.
    waiting.catch(() => {});
    await sleep(1_000);
    await assertServed(url, quietMs);
    await waiting;
    assert(watched.memory.peakMb > 0);
    assert(watched.memory.peakMb < PLATFORM_MB, `${watched.memory.peakMb} MB`);
  },
);
