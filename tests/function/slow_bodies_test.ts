/** Bodies that come slowly, or in crumbs: whoever sends them keeps nobody else waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { ACTIVE, TIMEOUT, TOO_LARGE } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { LIMITS } from "../support/limits.ts";
import { isLeftOut, testWith } from "../support/left_out.ts";
import { exchange, post, residentMb, startOnStub } from "../support/wire.ts";

const CRUMB_SENDERS = new URL("../support/crumb_senders.ts", import.meta.url);

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;
const knowsMemory = !isLeftOut("the memory that callers take", "/proc or ps");

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

/** A body of white space and then JSON, in so many pieces of one byte but for the last. */
function crumbs(pieces: number): string {
  const json = JSON.stringify({ username: "a", project_id: PROJECT });
  const last = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;
  return "1\r\n \r\n".repeat(pieces - 1) + last;
}

for (
  const [pieces, expected] of [
    [LIMITS.bodyPieces - 24, ACTIVE],
    [2 * LIMITS.bodyPieces, TOO_LARGE],
    [LIMITS.bodyBytes - 400, TOO_LARGE],
  ] as const
) {
  Deno.test(`caller: a valid body in ${pieces} pieces → ${expected.status}`, async () => {
    await using edgeFunction = await startOnStub();
    const head = post("Transfer-Encoding: chunked");
    const text = await exchange(edgeFunction.url, head + crumbs(pieces));
    assertStringIncludes(text, `HTTP/1.1 ${expected.status} `);
    assertStringIncludes(text, JSON.stringify(expected.body));
  });
}

const test = testWith("fair sockets");
test("caller: fourteen that send crumbs without end keep nobody else waiting", async () => {
  await using edgeFunction = await startOnStub();
  const { url, pid } = edgeFunction;
  const script = ["run", "--no-config", "--allow-net", CRUMB_SENDERS.href];
  const senders = run(Deno.execPath(), [...script, url.href, "14", "5"]);
  // Wide, for slow machines: without limits, they waited for up to 20 s.
  const patienceMs = 2_500;
  await sleep(500);
  let peakMb = 0;
  for (let bystander = 0; bystander < 20; bystander++) {
    const askedAt = performance.now();
    await assertAnswer(check(PROJECT, "a", url), ACTIVE);
    const tookMs = performance.now() - askedAt;
    assert(tookMs < patienceMs, `waited for ${Math.round(tookMs)} ms`);
    if (knowsMemory) peakMb = Math.max(peakMb, await residentMb(pid));
    await sleep(200);
  }
  const { stdout, stderr } = await senders;
  const statuses: string[] = JSON.parse(stdout || stderr);
  assert(statuses.length >= 14, stdout);
  assertEquals(
    statuses.filter((status) => Number(status) !== TOO_LARGE.status),
    [],
  );
  assert(peakMb < PLATFORM_MB, `${peakMb} MB`);
});

Deno.test("caller: hundreds of half-sent bodies are each a 408 after ten seconds", async () => {
  await using edgeFunction = await startOnStub();
  const { url, pid } = edgeFunction;
  const half = async (headers: string, sent: string) => {
    const startedAt = performance.now();
    const text = await exchange(url, post(headers) + sent);
    const tookMs = performance.now() - startedAt;
    assert(text.startsWith(`HTTP/1.1 ${TIMEOUT.status} `), text);
    assertStringIncludes(text, JSON.stringify(TIMEOUT.body));
    assert(tookMs > 9_000 && tookMs < 19_000, `${Math.round(tookMs)} ms`);
  };
  const spaces = " ".repeat(8_000);
  const waiting = Promise.all(
    Array.from({ length: 200 }, () => [
      half("Content-Length: 16000", spaces),
      half("Transfer-Encoding: chunked", `3e80\r\n${spaces}`),
    ]).flat(),
  );
  // What fails meanwhile is reported by the `await` below.
  waiting.catch(() => {});
  await sleep(1_000);
  await assertAnswer(check(PROJECT, "a", url), ACTIVE);
  await waiting;
  const mb = knowsMemory ? await residentMb(pid) : 0;
  assert(mb < PLATFORM_MB, `${mb} MB`);
});
