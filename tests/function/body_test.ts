/**
 * Reading a body, in exact time: it may have 16 KiB, and take 10 s. Of a longer one, 256 KiB are
 * read before the 413, so that the caller, who is still sending, does not lose the response.
 */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { respond } from "../../supabase/functions/check-username-active/responses.ts";
import { TIMEOUT } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";

const KIB = 1_024;
const time = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });

/** What comes next: a piece of this size in bytes, nothing for a while, or the body breaks off. */
type Part = { size: number } | { pauseMs: number } | "breaks off";

/** Repeats parts. */
const times = (count: number, ...parts: Part[]) => Array<Part[]>(count).fill(parts).flat();

const BYTE = { size: 1 };
const KIB_16 = { size: 16 * KIB };
const KIB_256 = times(16, KIB_16);
/** A body that is not whole within 10 s: a byte arrives every 9 s. */
const SLOW = times(9, BYTE, { pauseMs: 9_000 });

/**
 * What the caller sends (after the last part, the body is whole), the length that it has declared,
 * and what is read: so many bytes, or the status of the response; and when that is known.
 */
const ROWS: { when: string; declared?: string; arrives: Part[]; gives: string; atMs: number }[] = [
  { when: "16 KiB in pieces", arrives: times(16, { size: KIB }), gives: "16384 bytes", atMs: 0 },
  { when: "20 KiB in two pieces", arrives: times(2, { size: 10 * KIB }), gives: "413", atMs: 0 },
  // Up to 256 KiB are read to their end before the response, and a longer body is not.
  { when: "256 KiB", arrives: [...KIB_256, { pauseMs: 400 }], gives: "413", atMs: 400 },
  { when: "over 256 KiB", arrives: [...KIB_256, BYTE, { pauseMs: 400 }], gives: "413", atMs: 0 },
  // Each piece counts as 64 bytes at least, so that single bytes end soon: 4,096 pieces count as
  // 256 KiB, and the next one as too much.
  { when: "4,096 pieces", arrives: times(4_096, BYTE), gives: "4096 bytes", atMs: 0 },
  { when: "4,097 pieces", arrives: times(4_097, BYTE), gives: "413", atMs: 0 },
  // A body that is declared to be short is read in one call, which does not count pieces.
  { when: "pieces", declared: "9000", arrives: times(9_000, BYTE), gives: "9000 bytes", atMs: 0 },
  // With a Transfer-Encoding, the declared length means nothing.
  { when: "chunks", declared: "1, chunked", arrives: [KIB_16, BYTE], gives: "413", atMs: 0 },
  { when: "9.99 s", arrives: [BYTE, { pauseMs: 9_990 }, BYTE], gives: "2 bytes", atMs: 9_990 },
  { when: "over 10 s", arrives: SLOW, gives: "408", atMs: 10_000 },
  { when: "over 10 s", declared: "60", arrives: SLOW, gives: "408", atMs: 10_000 },
  // A slow line is no mistake of the caller, so a body that is too long as well gets the 408.
  { when: "too long, over 10 s", arrives: [KIB_16, ...SLOW], gives: "408", atMs: 10_000 },
  { when: "it breaks off", arrives: [BYTE, { pauseMs: 50 }, "breaks off"], gives: "408", atMs: 50 },
  { when: "it breaks off", declared: "60", arrives: [BYTE, "breaks off"], gives: "408", atMs: 0 },
  { when: "too long, broken off", arrives: [KIB_16, BYTE, "breaks off"], gives: "408", atMs: 0 },
];

for (const { when, declared = "", arrives, gives, atMs } of ROWS) {
  // In Deno 2.9, a body that has arrived already is a default stream, and any other a byte stream.
  for (const kind of ["byte", "default"]) {
    Deno.test(`body: ${when}${declared && `, declared as ${declared}`}, as a ${kind} stream → ${gives}`, async () => {
      time.reset();
      const byteStream = streamOf(arrives);
      const stream = kind === "byte" ? byteStream : byteStream.pipeThrough(new TransformStream());
      const [length, encoding] = declared.split(", ");
      const reading = readFrom(stream, {
        ...(length && { "Content-Length": length }),
        ...(encoding && { "Transfer-Encoding": encoding }),
      });
      await time.tickAsync(100_000);
      // When time is up, a slow body still pauses. That timer is this test's. No other may be left.
      assertEquals(await reading, { gives, atMs, timersLeft: atMs === 10_000 ? 1 : 0 });
    });
  }
}

Deno.test("body: one that is not whole after 10 s is cancelled", async () => {
  time.reset();
  let cancelled = 0;
  const reading = readFrom(streamOf([KIB_16, { pauseMs: 60_000 }], () => cancelled++));
  await time.tickAsync(10_000);
  await reading;
  assertEquals(cancelled, 1);
});

Deno.test("body: the 408 is that of the contract, with its body and headers", () =>
  assertResponse(respond("request_timeout"), TIMEOUT));

/** Reads a body. Returns its length or the response's status, the time, and how many timers run. */
async function readFrom(body: ReadableStream, headers = {}) {
  const result = await readBody(new Request("http://x", { method: "POST", headers, body }));
  const gives = "bytes" in result
    ? `${result.bytes.length} bytes`
    : `${respond(result.rejectedAs).status}`;
  return { gives, atMs: time.now, timersLeft: time.countTimers() };
}

/** A body as it comes over the network: each part begins once the one before was read. */
function streamOf(parts: Part[], cancel = () => {}): ReadableStream {
  const left = parts.values();
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 16 * KIB, // So that each read makes a `byobRequest`.
    cancel,
    async pull(controller) {
      for (const part of left) { // Goes on behind the part before, as such an iterator does.
        if (part === "breaks off") return controller.error(new Error(part));
        if ("size" in part) return controller.byobRequest?.respond(part.size);
        await new Promise((resolve) => setTimeout(resolve, part.pauseMs));
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
