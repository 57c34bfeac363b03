import type { Outcome } from "./responses.ts";

/** Longest body that is accepted, in bytes. Nothing past it is kept. */
const MAX_BODY_BYTES = 16 * 1024;
/** How much of a longer body is read, in bytes: a response would be lost while its caller sends. */
const MAX_READ_BYTES = 256 * 1024;
/** How long a body may take, in milliseconds. Without a limit, half-sent bodies would add up. */
const MAX_BODY_MS = 10_000;

/**
 * Reads the body of a request.
 *
 * @param request The request. Of its headers, only those about the body's length are looked at.
 * @returns The whole body. Or why there is none: it is longer than 16 KiB, or it breaks off or is
 * not whole within 10 s.
 */
export async function readBody(
  request: Request,
): Promise<{ bytes: Uint8Array } | { problem: Outcome }> {
  // A short body is read whole, which costs less. Of a chunked one, the declared length is void.
  const isShort = !request.headers.has("Transfer-Encoding") &&
    Number(request.headers.get("Content-Length") ?? NaN) <= MAX_BODY_BYTES;
  const reader = isShort ? null : readerOf(request.body ?? new Blob().stream());
  const { promise: timeUp, reject: end } = Promise.withResolvers<never>();
  const timer = setTimeout(end, MAX_BODY_MS);
  try {
    const reading = reader ? readPieces(reader) : request.bytes();
    const bytes = await Promise.race([reading, timeUp]);
    return bytes ? { bytes } : { problem: "body_too_large" };
  } catch {
    // A body that is too long is not cancelled: Deno 2.9 would then read on to its end.
    reader?.cancel().catch(() => {});
    return { problem: "request_timeout" };
  } finally {
    clearTimeout(timer);
  }
}

function readerOf(body: ReadableStream) {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    // No byte stream: at Deno 2.9, a body that has arrived already. Such a reader ignores `memory`.
    return body.getReader();
  }
}

/** Reads a body. Returns null if it is too long. */
async function readPieces(reader: ReturnType<typeof readerOf>) {
  const bytes = new Uint8Array(MAX_BODY_BYTES);
  // Each read detaches the memory, and its piece brings it back. Without it, Deno takes 64 KB each.
  let memory = new Uint8Array(MAX_BODY_BYTES);
  let [length, counted] = [0, 0];
  while (counted <= MAX_READ_BYTES) {
    const { done, value } = await reader.read(memory);
    if (done) return length > MAX_BODY_BYTES ? null : bytes.subarray(0, length);
    if (length + value.length <= MAX_BODY_BYTES) bytes.set(value, length);
    length += value.length;
    // At least 64 for a piece, so that a body in single bytes ends soon.
    counted += Math.max(value.length, 64);
    memory = new Uint8Array(value.buffer);
  }
  return null;
}
