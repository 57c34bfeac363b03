/** Longest request body that is taken, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;

/** How much of a longer one is read and discarded, in bytes and in milliseconds. */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;
const MAX_DISCARDING_MS = 1_000;

/**
 * Reads the body of a request.
 *
 * @param request The request. Of its headers, only those about the body's length are looked at.
 * @returns The whole body, or `undefined` when it is longer than 16 KiB.
 * @throws {Error} When the caller hangs up before the end.
 */
export async function readBody(
  request: Request,
): Promise<Uint8Array | undefined> {
  const { headers } = request;
  const declared = Number(headers.get("Content-Length") ?? NaN);
  // A body of declared length is read whole: as a stream, it would cost a third of the throughput.
  // Deno 2.1 takes both headers at once, and then the declared length is not the body's.
  if (declared <= MAX_BODY_BYTES && !headers.has("Transfer-Encoding")) {
    return await request.bytes();
  }

  const { body } = request;
  if (!body) return new Uint8Array();
  if (declared > MAX_BODY_BYTES) return await discard(body);

  const bytes = new Uint8Array(MAX_BODY_BYTES);
  let length = 0;
  for await (const chunk of body.values({ preventCancel: true })) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) break;
    bytes.set(chunk, length - chunk.length);
  }
  if (length > MAX_BODY_BYTES) return await discard(body);
  return bytes.subarray(0, length);
}

/** Keeps reading for a while, because a caller that is still sending can miss the response. */
async function discard(body: ReadableStream<Uint8Array>): Promise<undefined> {
  let bytes = 0;
  const nowhere = new WritableStream<Uint8Array>({
    write(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_DISCARDED_BYTES) controller.error();
    },
  });
  const signal = AbortSignal.timeout(MAX_DISCARDING_MS);
  // Rejects at either bound, and when the caller hangs up.
  await body.pipeTo(nowhere, { signal }).catch(() => {});
}
