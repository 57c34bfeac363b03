/** Reading a body, in exact time: how long, how much, and in how many pieces. */
import { assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { LIMITS } from "../support/contract.ts";
import { stopTime } from "../support/exact_time.ts";

/** A caller's next piece: that many bytes, or what the caller does instead, after so many milliseconds. */
type Piece = [bytes: number | "breaks off", afterMs?: number];

/** A body that comes in pieces, as they are asked for. */
const bodyOf = (pieces: Iterable<Piece>) =>
  ReadableStream.from((async function* () {
    for (const [what, afterMs] of pieces) {
      if (afterMs) await new Promise((done) => setTimeout(done, afterMs));
      if (what === "breaks off") throw new Error(what);
      yield new Uint8Array(what);
    }
  })());

const times = (count: number, piece: Piece): Piece[] =>
  Array(count).fill(piece);

const { bodyBytes, bodyPieces, bodyMs, discardedBytes, discardedMs } = LIMITS;
const LONG = bodyBytes + 1;
const SLOW = times(9, [1, 9_000]);
const TOO_LARGE = "body_too_large";
const TIMEOUT = "request_timeout";

// What is discarded after the first of large pieces, or after those that are already too many. A small
// one counts as one of 2 KiB.
const LARGE = 64 * 1024;
const larges = 1 + discardedBytes / LARGE;
const smalls = bodyPieces + 1 + discardedBytes / 2_048;

/** A body: its declared length, its pieces, and what it is read as, after so many milliseconds. */
type Row = [
  what: string,
  declared: number | null,
  pieces: Piece[],
  got: number | string,
  afterMs?: number,
];

const ROWS: Row[] = [
  ["nothing", null, [], 0],
  ["nothing, as declared", 0, [], 0],
  ["16 KiB", null, [[bodyBytes]], bodyBytes],
  ["16 KiB and a byte", null, [[bodyBytes], [1]], TOO_LARGE],
  ["1,024 pieces", null, times(bodyPieces, [16]), bodyBytes],
  ["1,025 pieces", null, times(bodyPieces + 1, [1]), TOO_LARGE],
  ["declared, 9,000 pieces", 9_000, times(9_000, [1]), 9_000],
  ["just in time", null, [[1, bodyMs - 10]], 1, bodyMs - 10],
  ["declared, just in time", 1, [[1, bodyMs - 10]], 1, bodyMs - 10],
  ["never whole", null, SLOW, TIMEOUT, bodyMs],
  ["declared, never whole", 60, SLOW, TIMEOUT, bodyMs],
  ["broken off", null, [[1], ["breaks off", 50]], TIMEOUT, 50],
  ["declared, broken off", 60, [[1], ["breaks off", 50]], TIMEOUT, 50],
  ["too long, silent", null, [[LONG], [1, 60_000]], TOO_LARGE, discardedMs],
  ["too long, broken off", null, [[LONG], ["breaks off", 50]], TOO_LARGE, 50],
  ["too long, soon whole", null, [[LONG], [1, 400]], TOO_LARGE, 400],
  ["too long by 8 MiB", null, times(larges, [LARGE]), TOO_LARGE],
  ["by more", null, times(larges + 1, [LARGE]), TOO_LARGE, discardedMs],
  ["by 8 MiB of small pieces", null, times(smalls, [1]), TOO_LARGE],
  ["by more of them", null, times(smalls + 1, [1]), TOO_LARGE, discardedMs],
  ["declared too long, silent", LONG, [[1, 60_000]], TOO_LARGE, discardedMs],
  ["declared too long, soon whole", LONG, [[LONG, 400]], TOO_LARGE, 400],
];

for (const [what, declared, pieces, expected, afterMs = 0] of ROWS) {
  Deno.test(`body: ${what} → ${expected}, after ${afterMs} ms`, async () => {
    using time = stopTime();
    const headers = declared === null
      ? {}
      : { "Content-Length": `${declared}` };
    const init = { method: "POST", headers, body: bodyOf(pieces) };
    let got: number | string = "nothing";
    let atMs = NaN;
    readBody(new Request("http://x", init)).then((body) => {
      got = typeof body === "string" ? body : body.length;
      atMs = performance.now();
    });
    const beganAt = performance.now();
    await time.pass(afterMs + 1);
    assertEquals([got, Math.round(atMs - beganAt)], [expected, afterMs]);
    if (typeof expected === "number") assertEquals(time.running(), 0);
    // What the caller sends after that goes by.
    await time.pass(100_000);
  });
}

// Deno 2.1 lets both headers through.
Deno.test("body: declared, and in chunks → as long as its chunks", async () => {
  const headers = { "Content-Length": "1", "Transfer-Encoding": "chunked" };
  const init = { method: "POST", headers, body: bodyOf([[LONG]]) };
  assertEquals(await readBody(new Request("http://x", init)), TOO_LARGE);
});
