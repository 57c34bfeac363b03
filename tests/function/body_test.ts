/** Reading a body, in exact time: how long, how much, and in how many pieces. */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { LIMITS } from "../support/contract.ts";

/** A piece of a body: its length in bytes, a break or the end, and the milliseconds before it. */
type Piece = [length: number | "breaks off" | "ends", afterMs?: number];

/** A body as it comes over the network: each piece is sent once the one before was read. */
function bodyOf(pieces: Piece[]): ReadableStream {
  const left = pieces.values();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const [length, afterMs] = left.next().value ?? ["ends"];
      if (afterMs) await new Promise((resolve) => setTimeout(resolve, afterMs));
      if (length === "breaks off") controller.error(new Error(length));
      else if (length !== "ends") controller.enqueue(new Uint8Array(length));
      else {
        controller.close();
        // Ends a read that is under way, which `close` does not.
        controller.byobRequest?.respond(0);
      }
    },
  });
}

const times = (count: number, piece: Piece) => Array<Piece>(count).fill(piece);

const declared = (length: number) => ({ "Content-Length": `${length}` });

// The platform's Deno, 2.1, lets both headers through.
const CHUNKED = { ...declared(1), "Transfer-Encoding": "chunked" };

const { bodyBytes, bodyPieces, bodyMs } = LIMITS;
/** How long the rest of a body that is too long is read and discarded. */
const restMs = 1_000;
const LONG = bodyBytes + 1;
const SLOW = times(9, [1, 9_000]);
const TOO_LARGE = "body_too_large";
const TIMEOUT = "request_timeout";

/** Pieces after which a body is too long: by a byte, or by a piece. */
const BYTE_OVER: Piece[] = [[bodyBytes], [1]];
const PIECE_OVER = times(bodyPieces + 1, [1]);
/** What may follow, 8 MiB: in pieces of 16 KiB, or of a byte, which counts as 2 KiB. */
const REST = times(512, [bodyBytes]);
const BYTES = times(4_096, [1]);

/** A request's headers and body; and what `readBody` returns, a length or a problem, and when. */
type Row = [
  what: string,
  headers: Record<string, string>,
  body: Piece[] | string | null,
  result: number | string,
  afterMs?: number,
];

const ROWS: Row[] = [
  ["no body", {}, null, 0],
  ["nothing", {}, [], 0],
  ["made in this process, no byte stream", {}, "text", 4],
  ["16 KiB and a byte", {}, BYTE_OVER, TOO_LARGE],
  ["1,024 pieces", {}, times(bodyPieces, [16]), bodyBytes],
  ["1,025 pieces", {}, PIECE_OVER, TOO_LARGE],
  ["declared, 9,000 pieces", declared(9_000), times(9_000, [1]), 9_000],
  ["declared as a byte, and in chunks", CHUNKED, [[LONG]], TOO_LARGE],
  ["just in time", {}, [[1, bodyMs - 10]], 1, bodyMs - 10],
  ["declared, just in time", declared(1), [[1, bodyMs - 10]], 1, bodyMs - 10],
  ["never whole", {}, SLOW, TIMEOUT, bodyMs],
  ["declared, never whole", declared(60), SLOW, TIMEOUT, bodyMs],
  ["broken off", {}, [[1], ["breaks off", 50]], TIMEOUT, 50],
  ["declared, broken off", declared(60), [["breaks off", 50]], TIMEOUT, 50],
  ["too long, silent", {}, [[LONG], [1, 60_000]], TOO_LARGE, restMs],
  ["too long, broken off", {}, [[LONG], ["breaks off", 50]], TOO_LARGE, 50],
  ["too long, soon whole", {}, [[LONG], [1, 400]], TOO_LARGE, 400],
  ["a rest of 8 MiB", {}, [...BYTE_OVER, ...REST], TOO_LARGE],
  ["a longer rest", {}, [...BYTE_OVER, ...REST, [1]], TOO_LARGE, restMs],
  ["8 MiB in bytes", {}, [...PIECE_OVER, ...BYTES], TOO_LARGE],
  ["more in bytes", {}, [...PIECE_OVER, ...BYTES, [1]], TOO_LARGE, restMs],
  ["declared long, silent", declared(LONG), SLOW, TOO_LARGE, restMs],
  ["declared long, whole", declared(LONG), [[LONG, 400]], TOO_LARGE, 400],
];

for (const [what, headers, content, expected, afterMs = 0] of ROWS) {
  Deno.test(`body: ${what} → ${expected}, after ${afterMs} ms`, async () => {
    const time = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });
    using _time = { [Symbol.dispose]: () => time.uninstall() };
    const body = Array.isArray(content) ? bodyOf(content) : content;
    const init = { method: "POST", headers, body };
    let result: number | string = "nothing";
    let tookMs = NaN;
    readBody(new Request("http://x", init)).then((body) => {
      result = typeof body === "string" ? body : body.length;
      tookMs = time.now;
    });
    await time.tickAsync(afterMs);
    assertEquals([result, tookMs], [expected, afterMs]);
    // A body that was read leaves no timer running.
    if (typeof expected === "number") assertEquals(time.countTimers(), 0);
    // The caller sends the rest, and nothing fails.
    await time.tickAsync(100_000);
  });
}
