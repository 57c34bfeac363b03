/** What many callers cost: time of the others, and memory of the function. */
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertStringIncludes } from "@std/assert";
import { ACTIVE, LIMITS, TIMEOUT, TOO_LARGE } from "../support/contract.ts";
import { aRow, startFunctionOnStub } from "../support/data_api_stub.ts";
import { assertResponse, check, postHead } from "../support/requests.ts";

const PLATFORM_MB = 256;

/** How many times slower a response may get under load. Without limits on bodies: thousands. */
const MAX_SLOWDOWN = 20;

async function medianMs(url: URL): Promise<number> {
  const tookMs: number[] = [];
  for (let asked = 0; asked < 20; asked++) {
    const startedAt = performance.now();
    await assertResponse(check(crypto.randomUUID(), "a", url), ACTIVE);
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs.sort((a, b) => a - b)[10] ?? NaN;
}

/** Registers a test of a load, under which others have to be served, within the memory. */
function testLoad(name: string, load: (url: URL) => Promise<unknown>) {
  // Only Linux tells a process's peak memory.
  const ignore = Deno.build.os !== "linux";
  Deno.test(`load: ${name}`, { ignore }, async () => {
    await using edgeFunction = await startFunctionOnStub(aRow);
    const { url, pid } = edgeFunction;
    const quietMs = await medianMs(url);
    const [loadedMs] = await Promise.all([
      sleep(1_000).then(() => medianMs(url)),
      load(url),
    ]);
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const peakMb = Number(status.match(/VmHWM:\s+(\d+)/)?.[1]) / 1024;
    const figures = `${loadedMs} ms, ${quietMs} ms before, ${peakMb} MB`;
    console.log(figures);
    assert(loadedMs < MAX_SLOWDOWN * quietMs, figures);
    assert(peakMb < PLATFORM_MB, figures);
  });
}

/**
 * Sends a text, or several in turn, over a new connection. Fails unless the first piece of the
 * response comes within a minute, with this status and body.
 */
async function assertExchange(
  { hostname, port }: URL,
  texts: string | Iterable<string>,
  { status, body }: typeof TIMEOUT,
) {
  const connection = connect(Number(port), hostname).setEncoding("utf8");
  connection.on("error", () => {});
  Readable.from(texts).pipe(connection, { end: false });
  const signal = AbortSignal.timeout(60_000);
  const first = ["data", "end"].map((it) => once(connection, it, { signal }));
  const [text = ""] = await Promise.race(first);
  connection.destroy();
  assertStringIncludes(text, `HTTP/1.1 ${status} `);
  assertStringIncludes(text, JSON.stringify(body));
}

function* endlessBytes() {
  yield postHead("Transfer-Encoding: chunked");
  for (;;) yield "1\r\nx\r\n".repeat(2_000);
}

testLoad("endless single bytes delay nobody else", async (url) => {
  const endsAt = performance.now() + 8_000;
  await Promise.all(Array.from({ length: 14 }, async () => {
    while (performance.now() < endsAt) {
      await assertExchange(url, endlessBytes(), TOO_LARGE);
    }
  }));
});

testLoad("half-sent bodies delay nobody else, and get a 408", async (url) => {
  const half = " ".repeat(LIMITS.bodyBytes / 2);
  // Each says that 16,000 bytes come.
  const halfSent = [
    postHead("Content-Length: 16000") + half,
    `${postHead("Transfer-Encoding: chunked")}3e80\r\n${half}`,
  ];
  const callers = Array.from(
    { length: 400 },
    (_, nth) => assertExchange(url, halfSent[nth % 2] ?? "", TIMEOUT),
  );
  await Promise.all(callers);
});
