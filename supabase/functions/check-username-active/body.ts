/** Longest body that is accepted, in bytes. Without a limit, one body could fill the memory. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * How many pieces a body may have if its length is not declared. Without a limit, a few callers who
 * send single bytes would take all the CPU time.
 */
const MAX_BODY_PIECES = 1_024;

/** How long a body may take, in milliseconds. Without a limit, half-sent bodies would add up. */
const MAX_BODY_MS = 10_000;

/**
 * The rest of a body that is too long is read and discarded, because a caller who still sends would
 * lose the response. At most this much, in bytes and in milliseconds, because it might never end.
 */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;
const MAX_DISCARDED_MS = 1_000;

/**
 * Each discarded piece counts as at least so many bytes: a short one takes as much time as a long
 * one. Without this, a few callers who send single bytes would hold up all others for seconds.
 */
const MIN_COUNTED_BYTES = 2 * 1024;

/**
 * Reads the body of a request.
 *
 * @param request The request. Of its headers, only those about the body's length are looked at.
 * @returns The whole body: up to 16 KiB, in up to 1,024 pieces if its length is not declared. Or
 * why there is none: it is too long, does not arrive within 10 s, or breaks off. Never throws.
 */
export async function readBody(request: Request) {
  // In a chunked request, `Content-Length` does not count. Deno 2.1, the platform's, lets it have
  // both headers.
  const isChunked = request.headers.has("Transfer-Encoding");
  const declared = isChunked ? null : request.headers.get("Content-Length");
  if (declared !== null && Number(declared) <= MAX_BODY_BYTES) {
    // This costs less than piece by piece, and takes any number of pieces.
    return await within(MAX_BODY_MS, request.bytes());
  }
  // A request without a body reads as an empty one.
  const pieces = piecesOf(request.body ?? new Blob().stream());
  if (declared === null) {
    const read = await within(MAX_BODY_MS, collect(pieces));
    if (read !== "body_too_large") return read;
  }
  // It is too long, whatever becomes of the rest.
  await within(MAX_DISCARDED_MS, discard(pieces));
  return "body_too_large" as const;
}

/**
 * Waits for a body to be read, for up to `ms` milliseconds. A body that breaks off is a timeout,
 * too: in both cases the line is bad, and the caller asks again later.
 */
function within<T>(ms: number, reading: Promise<T>) {
  const { promise: timeUp, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, ms);
  return Promise.race([reading, timeUp])
    .catch(() => "request_timeout" as const).finally(() => clearTimeout(timer));
}

/**
 * Puts a body together, unless it is too long or in too many pieces. No `for await`: leaving it
 * would close the iterator, and `discard` needs the rest.
 */
async function collect(pieces: AsyncIterator<Uint8Array>) {
  const bytes = new Uint8Array(MAX_BODY_BYTES);
  // `<=`: after the last piece, one more read finds the end.
  for (let count = 0, length = 0; count <= MAX_BODY_PIECES; count++) {
    const { done, value } = await pieces.next();
    if (done) return bytes.subarray(0, length);
    if (length + value.length > MAX_BODY_BYTES) break;
    bytes.set(value, length);
    length += value.length;
  }
  return "body_too_large" as const;
}

/** Reads to the end of a body. After 8 MiB, it only waits until `within` gives up. */
async function discard(pieces: AsyncIterable<Uint8Array>) {
  let bytes = 0;
  for await (const { length } of pieces) {
    bytes += Math.max(length, MIN_COUNTED_BYTES);
    // Responding now would let an endless sender begin its next request at once.
    if (bytes > MAX_DISCARDED_BYTES) await new Promise(() => {});
  }
}

/** Gives the pieces of a body as they arrive. Each is valid until the next one is asked for. */
async function* piecesOf(body: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader;
  try {
    // Each piece goes into the same memory: otherwise Deno takes 64 KB for a piece of one byte.
    reader = body.getReader({ mode: "byob" });
  } catch {
    // No byte stream: the request was made in this process, or comes from another runtime.
    return yield* body;
  }
  let read = await reader.read(new Uint8Array(MAX_BODY_BYTES));
  while (!read.done) {
    yield read.value;
    read = await reader.read(new Uint8Array(read.value.buffer));
  }
}
