/** Reading a body, in exact time: how long it may be, and how long it may take. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { respond } from "../../supabase/functions/check-username-active/responses.ts";
import { TIMEOUT } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";

const KIB = 1_024;
const time = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });

/** What arrives next: a piece of this size in bytes, or nothing for a while; or the body breaks off. */
type Part = { size: number } | { pauseMs: number } | "breaks off";

/** Repeats parts. */
const times = (count: number, ...parts: Part[]) => Array<Part[]>(count).fill(parts).flat();

/** A body that is not whole within 10 s: a byte arrives every 9 s. */
const SLOW = times(9, { size: 1 }, { pauseMs: 9_000 });

const ROWS: {
  when: string;
  headers?: Record<string, string>;
  /** What the caller sends. After the last part, the body is whole. */
  arrives: Part[];
  /** The length of the body that is returned, in bytes; or the status of the response. */
  length?: number;
  status?: number;
  /** When that is known, in milliseconds after the first read. */
  atMs: number;
}[] = [
  { when: "16 KiB in pieces", arrives: times(16, { size: KIB }), length: 16 * KIB, atMs: 0 },
  {
    when: "256 KiB, which are read to their end before the response",
    arrives: [...times(16, { size: 16 * KIB }), { pauseMs: 400 }],
    status: 413,
    atMs: 400,
  },
  {
    when: "256 KiB and a byte, whose end is not waited for",
    arrives: [...times(16, { size: 16 * KIB }), { size: 1 }, { pauseMs: 400 }],
    status: 413,
    atMs: 0,
  },
  // Each piece counts as 64 bytes at least, so 4,096 pieces count as the 256 KiB that are read.
  { when: "4,096 single bytes", arrives: times(4_096, { size: 1 }), length: 4_096, atMs: 0 },
  { when: "4,097 single bytes", arrives: times(4_097, { size: 1 }), status: 413, atMs: 0 },
  {
    // A body that is declared to be short is read in one call, which does not count pieces.
    when: "9,000 single bytes, of a declared length",
    headers: { "Content-Length": "9000" },
    arrives: times(9_000, { size: 1 }),
    length: 9_000,
    atMs: 0,
  },
  {
    when: "over 16 KiB in chunks, whose Content-Length of 1 means nothing",
    headers: { "Content-Length": "1", "Transfer-Encoding": "chunked" },
    arrives: [{ size: 16 * KIB }, { size: 1 }],
    status: 413,
    atMs: 0,
  },
  {
    when: "whole after 9.99 s",
    arrives: [{ size: 1 }, { pauseMs: 9_990 }, { size: 1 }],
    length: 2,
    atMs: 9_990,
  },
  { when: "not whole after 10 s", arrives: SLOW, status: 408, atMs: 10_000 },
  {
    when: "not whole after 10 s, of a declared length",
    headers: { "Content-Length": "60" },
    arrives: SLOW,
    status: 408,
    atMs: 10_000,
  },
  {
    when: "too long, and not whole after 10 s",
    arrives: [{ size: 16 * KIB }, ...SLOW],
    status: 408,
    atMs: 10_000,
  },
  {
    when: "broken off after 50 ms",
    arrives: [{ size: 1 }, { pauseMs: 50 }, "breaks off"],
    status: 408,
    atMs: 50,
  },
  {
    when: "broken off, of a declared length",
    headers: { "Content-Length": "60" },
    arrives: [{ size: 1 }, "breaks off"],
    status: 408,
    atMs: 0,
  },
  {
    when: "too long, and broken off",
    arrives: [{ size: 16 * KIB }, { size: 1 }, "breaks off"],
    status: 408,
    atMs: 0,
  },
];

for (const { when, headers, arrives, ...expected } of ROWS) {
  // Deno 2.9 has no byte stream for a body that has arrived already.
  for (const kind of ["byte", "default"]) {
    const result = expected.status ?? `${expected.length} bytes`;
    Deno.test(`body: ${when}, as a ${kind} stream → ${result}`, async () => {
      time.reset();
      const byteStream = streamOf(arrives);
      const stream = kind === "byte" ? byteStream : byteStream.pipeThrough(new TransformStream());
      const reading = readFrom(stream, headers);
      await time.tickAsync(100_000);
      const { timersLeft, ...seen } = await reading;
      assertEquals<unknown>(seen, expected);
      // When time is up, the pause of a slow body still runs: its timer is this test's.
      assertEquals(timersLeft, expected.atMs === 10_000 ? 1 : 0, "timers left running");
    });
  }
}

Deno.test("body: of one that is too long, less than 64 KiB are kept; after 10 s, it is cancelled", async () => {
  time.reset();
  const before = Deno.memoryUsage().external;
  let cancelled = 0;
  const unfinished = [...times(16, { size: 16 * KIB }), { pauseMs: 60_000 }];
  const count = () => void cancelled++;
  const reading = Array.from({ length: 64 }, () => readFrom(streamOf(unfinished, count)));
  await time.tickAsync(0);
  const kept = (Deno.memoryUsage().external - before) / reading.length;
  await time.tickAsync(10_000);
  await Promise.all(reading);
  assertEquals(cancelled, reading.length, "cancelled");
  assert(kept < 64 * KIB, `${kept} bytes of each`);
});

Deno.test("body: the response to one that is not whole in time is the contract's 408", () =>
  assertResponse(respond("request_timeout"), TIMEOUT));

/** Reads a body. Returns its length or the response's status, when, and how many timers then run. */
async function readFrom(body: ReadableStream, headers = {}) {
  const request = new Request("http://x", { method: "POST", headers, body });
  const result = await readBody(request);
  const seen = { atMs: time.now, timersLeft: time.countTimers() };
  return "bytes" in result
    ? { length: result.bytes.length, ...seen }
    : { status: respond(result.rejectedAs).status, ...seen };
}

/** A body as it comes over the network: each part begins once the one before was read. */
function streamOf(parts: Part[], cancel = () => {}): ReadableStream {
  const left = parts.values();
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 16 * KIB, // So that there always is a `byobRequest`.
    cancel,
    async pull(controller) {
      for (const part of left) {
        if (part === "breaks off") return controller.error(new Error(part));
        if ("size" in part) return controller.byobRequest?.respond(part.size);
        await new Promise((resolve) => setTimeout(resolve, part.pauseMs));
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
