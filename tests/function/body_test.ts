/** Reading a body, in exact time: how long it may be, and how long it may take. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { respond } from "../../supabase/functions/check-username-active/responses.ts";
import { TIMEOUT } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";

const KIB = 1_024;
const time = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });

/** What arrives next: a piece of so many bytes, or nothing for a while, or the body breaks off. */
type Part = { bytes: number } | { waitMs: number } | "breaks off";

/** Repeats parts. */
const times = (count: number, ...parts: Part[]) => Array<Part[]>(count).fill(parts).flat();

/** A body that is not whole within 10 s: a byte arrives every 9 s. */
const SLOW = times(9, { bytes: 1 }, { waitMs: 9_000 });

const ROWS: {
  body: string;
  headers?: Record<string, string>;
  arrives: Part[];
  /** How many bytes are read, or the status of the response; and when that is known. */
  bytes?: number;
  status?: number;
  atMs: number;
}[] = [
  { body: "16 KiB in pieces", arrives: times(16, { bytes: KIB }), bytes: 16 * KIB, atMs: 0 },
  {
    body: "256 KiB, read to its end before the response",
    arrives: [...times(16, { bytes: 16 * KIB }), { waitMs: 400 }],
    status: 413,
    atMs: 400,
  },
  {
    body: "256 KiB and a byte, whose end is not waited for",
    arrives: [...times(16, { bytes: 16 * KIB }), { bytes: 1 }, { waitMs: 400 }],
    status: 413,
    atMs: 0,
  },
  // A byte that comes alone counts as 64, so 4,096 of them count as 256 KiB.
  { body: "4,096 single bytes", arrives: times(4_096, { bytes: 1 }), bytes: 4_096, atMs: 0 },
  { body: "4,097 single bytes", arrives: times(4_097, { bytes: 1 }), status: 413, atMs: 0 },
  {
    body: "9,000 single bytes, of a declared length",
    headers: { "Content-Length": "9000" },
    arrives: times(9_000, { bytes: 1 }),
    bytes: 9_000,
    atMs: 0,
  },
  {
    body: "over 16 KiB in chunks, whose Content-Length of 1 means nothing",
    headers: { "Content-Length": "1", "Transfer-Encoding": "chunked" },
    arrives: [{ bytes: 16 * KIB }, { bytes: 1 }],
    status: 413,
    atMs: 0,
  },
  {
    body: "whole after 9.99 s",
    arrives: [{ bytes: 1 }, { waitMs: 9_990 }, { bytes: 1 }],
    bytes: 2,
    atMs: 9_990,
  },
  { body: "not whole after 10 s", arrives: SLOW, status: 408, atMs: 10_000 },
  {
    body: "not whole after 10 s, of a declared length",
    headers: { "Content-Length": "60" },
    arrives: SLOW,
    status: 408,
    atMs: 10_000,
  },
  {
    body: "too long, and not whole after 10 s",
    arrives: [{ bytes: 16 * KIB }, ...SLOW],
    status: 408,
    atMs: 10_000,
  },
  {
    body: "broken off after 50 ms",
    arrives: [{ bytes: 1 }, { waitMs: 50 }, "breaks off"],
    status: 408,
    atMs: 50,
  },
  {
    body: "broken off, of a declared length",
    headers: { "Content-Length": "60" },
    arrives: [{ bytes: 1 }, "breaks off"],
    status: 408,
    atMs: 0,
  },
  {
    body: "too long, and broken off",
    arrives: [{ bytes: 16 * KIB }, { bytes: 1 }, "breaks off"],
    status: 408,
    atMs: 0,
  },
];

for (const { body, headers, arrives, ...expected } of ROWS) {
  // Deno 2.9 has no BYOB reader for a body that has arrived already.
  for (const reader of ["BYOB", "default"]) {
    const result = expected.status ?? `${expected.bytes} bytes`;
    Deno.test(`body: ${body}, with a ${reader} reader → ${result}`, async () => {
      time.reset();
      const bytes = streamOf(arrives);
      const stream = reader === "BYOB" ? bytes : bytes.pipeThrough(new TransformStream());
      const reading = read(stream, headers);
      await time.tickAsync(100_000);
      const { timersLeft, ...seen } = await reading;
      assertEquals<unknown>(seen, expected);
      // After a 408, the timers of this test's own body go on.
      if (expected.status !== 408) assertEquals(timersLeft, 0, "timers left running");
    });
  }
}

Deno.test("body: of one that is too long, less than 64 KiB are kept; after 10 s, it is cancelled", async () => {
  time.reset();
  const before = Deno.memoryUsage().external;
  let cancelled = 0;
  const endless = [...times(16, { bytes: 16 * KIB }), { waitMs: 60_000 }];
  const reading = Array.from({ length: 64 }, () => read(streamOf(endless, () => cancelled++)));
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
async function read(body: ReadableStream, headers = {}) {
  const request = new Request("http://x", { method: "POST", headers, body });
  const read = await readBody(request);
  const seen = { atMs: time.now, timersLeft: time.countTimers() };
  return "bytes" in read
    ? { bytes: read.bytes.length, ...seen }
    : { status: respond(read.rejectedAs).status, ...seen };
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
        if ("bytes" in part) return controller.byobRequest?.respond(part.bytes);
        await new Promise((resolve) => setTimeout(resolve, part.waitMs));
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
