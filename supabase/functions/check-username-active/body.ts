import { within } from "./clock.ts";

/** Longest request body that is accepted: bytes, pieces, and milliseconds until it is whole. */
const MAX_BODY_BYTES = 16 * 1024;
const MAX_BODY_PIECES = 1_024;
const MAX_BODY_MS = 10_000;

/** How much of a longer one is read and discarded, in bytes and in milliseconds. */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;
const MAX_DISCARDED_MS = 1_000;

/** What a discarded piece counts at least, in bytes: small ones take as much time as large ones. */
const MIN_PIECE_BYTES = 2 * 1024;

/**
 * Reads the body of a request.
 *
 * @param request The request. Of its headers, only those about the body's length are looked at.
 * @returns The whole body: up to 16 KiB, in up to 1,024 pieces if its length is not declared. Or why
 * there is none: it is too long, or not whole within 10 s, or breaks off. Never throws.
 */
export async function readBody(request: Request) {
  // Deno 2.1 takes both headers at once, and then the declared length is not the body's.
  const isChunked = request.headers.has("Transfer-Encoding");
  const declared = isChunked ? null : request.headers.get("Content-Length");
  if (declared !== null && Number(declared) <= MAX_BODY_BYTES) {
    // This costs less than piece by piece.
    return await within(MAX_BODY_MS, request.bytes()) ?? "request_timeout";
  }
  const pieces = piecesOf(request.body ?? new Blob().stream());
  if (declared === null) {
    const body = await within(MAX_BODY_MS, collect(pieces));
    if (body !== "body_too_large") return body ?? "request_timeout";
  }
  // Read on: whoever is still sending can miss the response.
  await within(MAX_DISCARDED_MS, discard(pieces));
  return "body_too_large";
}

/** Puts a body together, unless it is too long or in too many pieces. */
async function collect(pieces: AsyncIterator<Uint8Array>) {
  const bytes = new Uint8Array(MAX_BODY_BYTES);
  for (let count = 0, length = 0; count <= MAX_BODY_PIECES; count++) {
    const { done, value } = await pieces.next();
    if (done) return bytes.subarray(0, length);
    if (length + value.length > MAX_BODY_BYTES) break;
    bytes.set(value, length);
    length += value.length;
  }
  return "body_too_large";
}

/** Reads to the end, but no more than 8 MiB. */
async function discard(pieces: AsyncIterable<Uint8Array>) {
  const never = new Promise<never>(() => {});
  let bytes = 0;
  for await (const { length } of pieces) {
    bytes += Math.max(length, MIN_PIECE_BYTES);
    // Whoever goes on sending is held up until the time is over: otherwise the response gets lost.
    if (bytes > MAX_DISCARDED_BYTES) await within(MAX_DISCARDED_MS, never);
  }
}

/** The pieces of a body as they arrive. Each is valid until the next is asked for. */
async function* piecesOf(body: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader;
  try {
    // Into the same memory each time: otherwise Deno takes 64 KB for a piece of one byte.
    reader = body.getReader({ mode: "byob" });
  } catch {
    // A body that did not come over the network: its pieces are in memory already.
    return yield* body;
  }
  for (let memory = new ArrayBuffer(MAX_BODY_BYTES);;) {
    const { done, value } = await reader.read(new Uint8Array(memory));
    if (done) return;
    yield value;
    memory = value.buffer;
  }
}
