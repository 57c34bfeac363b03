/** Reads the body of a request, within the limits of its length and its time. */
import type { ResponseName } from "./responses.ts";

// The longest body that is accepted, in bytes. Nothing after that is kept.
const MAX_BODY_BYTES = 16 * 1024;
// How much of a body that is too long is read before its 413, in bytes. If the function responded
// while the caller is still sending, the caller would see a broken connection instead of the 413.
const MAX_READ_BYTES = 256 * 1024;
// How long a body may take, in milliseconds. Without a limit, half-sent bodies would add up.
const MAX_BODY_MS = 10_000;

/**
 * Reads the body of a request.
 *
 * @param request The request. Of its headers, only those about the body's length are looked at.
 * @returns The whole body, or the name of the response that says why there is none: the body is too
 * long, comes in over 4,096 pieces without a declared length, breaks off, or takes over 10 s.
 */
export async function readBody(
  request: Request,
): Promise<{ bytes: Uint8Array } | { rejectedAs: ResponseName }> {
  // A body that is declared to be short is read in one call, which costs less CPU time than pieces.
  // NaN stands for no `Content-Length`. With a `Transfer-Encoding`, `Content-Length` means nothing.
  const isShort = Number(request.headers.get("Content-Length") ?? NaN) <= MAX_BODY_BYTES &&
    !request.headers.has("Transfer-Encoding");
  const reader = isShort || !request.body ? null : readerOf(request.body);
  const reading = reader ? readPieces(reader) : request.bytes();
  const timeLimit = Promise.withResolvers<never>();
  const timer = setTimeout(timeLimit.reject, MAX_BODY_MS);
  try {
    const bytes = await Promise.race([reading, timeLimit.promise]);
    // A body that is too long is not cancelled, because Deno 2.9 would then read it to its end.
    return bytes ? { bytes } : { rejectedAs: "body_too_large" };
  } catch {
    // Time is up, or the body broke off. Every error ends here, because the errors of broken bodies
    // in Deno 2.1.4, Deno 2.9.6 and the edge runtime's own server have no class in common.
    reader?.cancel().catch(() => {});
    return { rejectedAs: "request_timeout" };
  } finally {
    clearTimeout(timer);
  }
}

/** Gets a BYOB reader, which fills the memory passed to `read`, or else a default reader. */
function readerOf(body: ReadableStream) {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    // Deno 2.9 has no BYOB reader for a body that has arrived already.
    return body.getReader();
  }
}

/** Reads a body in pieces. Returns null if the body is too long. */
async function readPieces(reader: ReturnType<typeof readerOf>) {
  const kept = new Uint8Array(MAX_BODY_BYTES);
  // A BYOB reader reads every piece into these 16 KiB: it takes the memory away and gives it back
  // as `value.buffer`. Without memory of ours, Deno would allocate 64 KB for each piece.
  let memory = new Uint8Array(MAX_BODY_BYTES);
  let length = 0; // Of the body so far, in bytes.
  let counted = 0; // Towards MAX_READ_BYTES: at least 64 for each piece.
  while (counted <= MAX_READ_BYTES) {
    const { done, value } = await reader.read(memory);
    if (done) return length > MAX_BODY_BYTES ? null : kept.subarray(0, length);
    if (length + value.length <= MAX_BODY_BYTES) kept.set(value, length);
    length += value.length;
    counted += Math.max(value.length, 64); // Otherwise, single bytes could take 262,144 reads.
    memory = new Uint8Array(value.buffer);
  }
  return null;
}
