/** Reading a body, in exact time: how long it may be, and how long it may take. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { respond } from "../../supabase/functions/check-username-active/responses.ts";
import { LIMITS, TIMEOUT } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";

const { bodyBytes, bodyMs } = LIMITS;
const time = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });

/** A part of a body: a piece of so many bytes, a pause, or that it breaks off. */
type Part = number | (() => Promise<unknown>) | "breaks off";

const wait = (ms: number) => () =>
  new Promise((resolve) => setTimeout(resolve, ms));
const times = (count: number, ...parts: Part[]) =>
  Array<Part[]>(count).fill(parts).flat();
const declared = (length: number) => ({ "Content-Length": `${length}` });

const SLOW = times(9, 1, wait(9_000));
const MOST = times(16, bodyBytes); // 256 KiB.
const CHUNKED = { ...declared(1), "Transfer-Encoding": "chunked" };

/** A body; how many bytes are read, or the status; after how many milliseconds; headers. */
type Row = [string, Part[], result: number, ms?: number, headers?: object];

const ROWS: Row[] = [
  ["16 KiB in pieces", times(16, 1_024), bodyBytes],
  ["256 KiB, read on", [...MOST, wait(400)], 413, 400],
  ["a byte more, not read on", [...MOST, 1, wait(400)], 413],
  ["4,096 single bytes", times(4_096, 1), 4_096],
  ["4,097 single bytes", times(4_097, 1), 413],
  ["declared, 9,000 single bytes", times(9_000, 1), 9_000, 0, declared(9_000)],
  ["declared short, in chunks", [bodyBytes, 1], 413, 0, CHUNKED],
  ["just in time", [1, wait(bodyMs - 10), 1], 2, bodyMs - 10],
  ["never whole", SLOW, 408, bodyMs],
  ["declared, never whole", SLOW, 408, bodyMs, declared(60)],
  ["long, never whole", [bodyBytes, ...SLOW], 408, bodyMs],
  ["broken off", [1, wait(50), "breaks off"], 408, 50],
  ["declared, broken off", [1, "breaks off"], 408, 0, declared(60)],
  ["long, broken off", [bodyBytes, 1, "breaks off"], 408],
];

for (const [what, parts, result, ms = 0, headers] of ROWS) {
  for (const kind of ["", ", no byte stream"]) {
    Deno.test(`body: ${what}${kind} → ${result}`, async () => {
      time.reset();
      const bytes = bodyOf(parts);
      const body = kind ? bytes.pipeThrough(new TransformStream()) : bytes;
      const reading = readBodyOf(body, headers);
      await time.tickAsync(100_000);
      const { got, gotMs, timers } = await reading;
      assertEquals({ got, atMs: gotMs }, { got: result, atMs: ms });
      if (result !== 408) assertEquals(timers, 0, "timers left running");
    });
  }
}

Deno.test("body: of a long one, less than 64 KiB are kept; in time, it is cancelled", async () => {
  time.reset();
  const before = Deno.memoryUsage().external;
  let cancelled = 0;
  const reading = Array.from(
    { length: 64 },
    () => readBodyOf(bodyOf([...MOST, wait(60_000)], () => cancelled++)),
  );
  await time.tickAsync(0);
  const kept = (Deno.memoryUsage().external - before) / reading.length;
  await time.tickAsync(bodyMs);
  await Promise.all(reading);
  assertEquals(cancelled, reading.length, "cancelled");
  assert(kept < 4 * bodyBytes, `${kept} bytes of each`);
});

Deno.test("body: none → 0", async () =>
  assertEquals((await readBodyOf(null)).got, 0));
Deno.test("body: the 408", () =>
  assertResponse(respond("request_timeout"), TIMEOUT));

/** Reads a body: its length, or the status if it is not accepted; when; and what still runs. */
async function readBodyOf(body: ReadableStream | null, headers = {}) {
  const request = new Request("http://x", { method: "POST", headers, body });
  const read = await readBody(request);
  const got = "bytes" in read
    ? read.bytes.length
    : respond(read.rejectedAs).status;
  return { got, gotMs: time.now, timers: time.countTimers() };
}

/** A body as it comes over the network: each part begins once the one before was read. */
function bodyOf(parts: Part[], cancel = () => {}): ReadableStream {
  const left = parts.values();
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: bodyBytes, // So that there always is a `byobRequest`.
    cancel,
    async pull(controller) {
      for (const part of left) {
        if (part === "breaks off") return controller.error(new Error(part));
        if (typeof part === "function") await part();
        else return controller.byobRequest?.respond(part);
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
