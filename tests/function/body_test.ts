/** Reading a body, in exact time: how long, how much, and in how many pieces. */
import { assert, assertEquals } from "@std/assert";
import { readBody } from "../../supabase/functions/check-username-active/body.ts";
import { stopTime } from "../support/exact_time.ts";
import { LIMITS } from "../support/contract.ts";

/** A caller's next piece: that many bytes, or what the caller does instead, after so many milliseconds. */
type Piece = [bytes: number | "breaks off" | "ends", afterMs?: number];

/** What a reader took of a body, and when it had what it made of that, in milliseconds. */
interface Read {
  bytes: number;
  got?: number | string;
  atMs?: number;
}

/** Begins to read a body that comes in pieces, with its length declared or without. */
function read(pieces: Iterable<Piece>, declared: number | null): Read {
  const beganAt = performance.now();
  const next = Iterator.from(pieces);
  const read: Read = { bytes: 0 };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const [what, afterMs] = next.next().value ?? ["ends"];
      if (afterMs) await new Promise((done) => setTimeout(done, afterMs));
      if (what === "ends") return controller.close();
      if (what === "breaks off") return controller.error(new Error());
      read.bytes += what;
      controller.enqueue(new Uint8Array(what));
    },
  }, { highWaterMark: 0 });
  const headers = declared === null ? {} : { "Content-Length": `${declared}` };
  const request = new Request("http://x", { method: "POST", headers, body });
  readBody(request).then((body) => {
    read.got = typeof body === "string" ? body : body.length;
    read.atMs = performance.now() - beganAt;
  });
  return read;
}

const times = (count: number, piece: Piece): Piece[] =>
  Array(count).fill(piece);

/** Pieces without end. */
function* endless(piece: Piece) {
  for (;;) yield piece;
}

const { bodyBytes, bodyPieces, bodyMs, discardedBytes, discardedMs } = LIMITS;
const LONG = bodyBytes + 1;
const TOO_LARGE = "body_too_large";
const TIMEOUT = "request_timeout";

/** A body: its declared length, its pieces, and what it is read as, after so many milliseconds. */
type Row = [
  what: string,
  declared: number | null,
  pieces: Iterable<Piece>,
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
  ["never whole", null, endless([1, 9_000]), TIMEOUT, bodyMs],
  ["declared, never whole", 60, endless([1, 9_000]), TIMEOUT, bodyMs],
  ["broken off", null, [[1], ["breaks off", 50]], TIMEOUT, 50],
  ["declared, broken off", 60, [[1], ["breaks off", 50]], TIMEOUT, 50],
  ["too long, silent", null, [[LONG], [1, 60_000]], TOO_LARGE, discardedMs],
  ["too long, broken off", null, [[LONG], ["breaks off", 50]], TOO_LARGE, 50],
  ["too long, soon whole", null, [[LONG], [1, 400]], TOO_LARGE, 400],
  ["declared too long, silent", LONG, [[1, 60_000]], TOO_LARGE, discardedMs],
  ["declared too long, soon whole", LONG, [[LONG, 400]], TOO_LARGE, 400],
];

for (const [what, declared, pieces, got, afterMs = 0] of ROWS) {
  Deno.test(`body: ${what} → ${got}, after ${afterMs} ms`, async () => {
    using time = stopTime();
    const body = read(pieces, declared);
    await time.pass(afterMs + 200);
    assertEquals(body.got, got);
    const { atMs = NaN } = body;
    assert(atMs >= afterMs && atMs <= afterMs + 100, `after ${atMs} ms`);
    await time.pass(60_000);
  });
}

for (const size of [64 * 1024, 1]) {
  Deno.test(`body: too long, in pieces of ${size} → body_too_large, after 8 MiB and ${discardedMs} ms`, async () => {
    using time = stopTime();
    // A small piece counts as one of 2 KiB.
    const most = size === 1
      ? bodyPieces + discardedBytes / 2_048
      : discardedBytes;
    const body = read(times(most / size + 10, [size]), null);
    await time.pass(discardedMs - 100);
    const { bytes, got } = body;
    await time.pass(300);
    assertEquals([got, body.got], [undefined, TOO_LARGE]);
    assert(bytes >= most && bytes < most + 3 * size, `${bytes} bytes`);
    await time.pass(60_000);
  });
}
