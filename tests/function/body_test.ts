/** Reading a body, in exact time: how long, how much, and in how many pieces. */
import { assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { stopTime } from "../support/exact_time.ts";
import { LIMITS } from "../support/contract.ts";

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

/** A request: its headers about the body. */
const NOT_DECLARED = {};
const declared = (length: number) => ({ "Content-Length": `${length}` });

/** A body: its headers, its pieces, and what it is read as, after so many milliseconds. */
type Row = [
  what: string,
  headers: Record<string, string>,
  pieces: Piece[],
  got: number | string,
  afterMs?: number,
];

const ROWS: Row[] = [
  ["nothing", NOT_DECLARED, [], 0],
  ["nothing, as declared", declared(0), [], 0],
  ["16 KiB", NOT_DECLARED, [[bodyBytes]], bodyBytes],
  ["16 KiB and a byte", NOT_DECLARED, [[bodyBytes], [1]], TOO_LARGE],
  ["1,024 pieces", NOT_DECLARED, times(bodyPieces, [16]), bodyBytes],
  ["1,025 pieces", NOT_DECLARED, times(bodyPieces + 1, [1]), TOO_LARGE],
  ["declared, 9,000 pieces", declared(9_000), times(9_000, [1]), 9_000],
  // Deno 2.1 lets both headers through, and then the body is as long as its chunks.
  [
    "declared, and in chunks",
    { ...declared(1), "Transfer-Encoding": "chunked" },
    [[LONG]],
    TOO_LARGE,
  ],
  ["just in time", NOT_DECLARED, [[1, bodyMs - 10]], 1, bodyMs - 10],
  ["declared, just in time", declared(1), [[1, bodyMs - 10]], 1, bodyMs - 10],
  ["never whole", NOT_DECLARED, SLOW, TIMEOUT, bodyMs],
  ["declared, never whole", declared(60), SLOW, TIMEOUT, bodyMs],
  ["broken off", NOT_DECLARED, [[1], ["breaks off", 50]], TIMEOUT, 50],
  [
    "declared, broken off",
    declared(60),
    [[1], ["breaks off", 50]],
    TIMEOUT,
    50,
  ],
  [
    "too long, silent",
    NOT_DECLARED,
    [[LONG], [1, 60_000]],
    TOO_LARGE,
    discardedMs,
  ],
  [
    "too long, broken off",
    NOT_DECLARED,
    [[LONG], ["breaks off", 50]],
    TOO_LARGE,
    50,
  ],
  ["too long, soon whole", NOT_DECLARED, [[LONG], [1, 400]], TOO_LARGE, 400],
  ["too long by 8 MiB", NOT_DECLARED, times(larges, [LARGE]), TOO_LARGE],
  ["by more", NOT_DECLARED, times(larges + 1, [LARGE]), TOO_LARGE, discardedMs],
  ["by 8 MiB of small pieces", NOT_DECLARED, times(smalls, [1]), TOO_LARGE],
  [
    "by more of them",
    NOT_DECLARED,
    times(smalls + 1, [1]),
    TOO_LARGE,
    discardedMs,
  ],
  [
    "declared too long, silent",
    declared(LONG),
    [[1, 60_000]],
    TOO_LARGE,
    discardedMs,
  ],
  [
    "declared too long, soon whole",
    declared(LONG),
    [[LONG, 400]],
    TOO_LARGE,
    400,
  ],
];

for (const [what, headers, pieces, expected, afterMs = 0] of ROWS) {
  Deno.test(`body: ${what} → ${expected}, after ${afterMs} ms`, async () => {
    using time = stopTime();
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
