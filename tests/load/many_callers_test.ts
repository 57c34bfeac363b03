/** What many callers cost: time of the others, and memory of the function. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertStringIncludes } from "@std/assert";
import { ACTIVE, TOO_LARGE } from "../support/contract.ts";
import { aRow, startFunctionOnStub } from "../support/data_api_stub.ts";
import { assertResponse, checkAt, postHead } from "../support/requests.ts";

/** How many times slower a response may get at the median. With no limits: thousands of times. */
const MAX_SLOWDOWN = 20;

/** Returns what a request takes at the median, during a load, after its first second. */
async function medianMs(url: URL, load: Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  let hasEnded = false;
  load.catch(() => {}).finally(() => hasEnded = true);
  await sleep(1_000);
  while (!hasEnded) {
    const startedAt = performance.now();
    await assertResponse(checkAt(url, crypto.randomUUID(), "a"), ACTIVE);
    tookMs.push(performance.now() - startedAt);
  }
  await load;
  return tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length / 2)] ?? NaN;
}

/** Sends single bytes without end over a new connection. Fails unless it gets a 413 in a minute. */
async function sendBytes({ hostname, port }: URL) {
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const bytes = function* () {
    yield postHead("Transfer-Encoding: chunked");
    for (;;) yield "1\r\nx\r\n".repeat(2_000);
  };
  ReadableStream.from(bytes()).pipeThrough(new TextEncoderStream())
    .pipeTo(connection.writable, { preventClose: true }).catch(() => {});
  const limit = { signal: AbortSignal.timeout(60_000) };
  const pieces = connection.readable
    .pipeThrough(new TextDecoderStream(), limit);
  let response = "";
  for await (const piece of pieces) {
    response += piece;
    if (response.endsWith("}")) break;
  }
  assertStringIncludes(response, `HTTP/1.1 ${TOO_LARGE.status} `);
  assertStringIncludes(response, JSON.stringify(TOO_LARGE.body));
}

// Only Linux tells a process's peak memory.
const ignore = Deno.build.os !== "linux";
Deno.test("load: endless bytes hardly delay others", { ignore }, async () => {
  await using edgeFunction = await startFunctionOnStub(aRow);
  const { url, pid } = edgeFunction;
  const quietMs = await medianMs(url, sleep(3_000)); // No load, for 3 s.
  const endsAt = performance.now() + 8_000;
  const callers = Array.from({ length: 14 }, async () => {
    while (performance.now() < endsAt) await sendBytes(url);
  });
  const loadedMs = await medianMs(url, Promise.all(callers));
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const peakMb = Number(status.match(/VmHWM:\s+(\d+)/)?.[1]) / 1024;
  const figures = `${loadedMs} ms, ${quietMs} ms before, ${peakMb} MB`;
  assert(loadedMs < MAX_SLOWDOWN * quietMs, figures);
  assert(peakMb < 256, figures); // What the platform gives it.
});
