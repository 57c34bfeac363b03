import * as z from "zod/mini";
import type { BadRequest } from "./outcome.ts";

/** Longest request body that is taken, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;

/** How much of a longer one is read and discarded, in bytes and in milliseconds. */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;
const MAX_DISCARDING_MS = 1_000;

const ActivationCheck = z.object({
  // 1 to 256 code points (not UTF-16 units), without U+0000 and lone surrogates: neither can be
  // stored, and a lone surrogate would turn into U+FFFD in the query's URL and match that user.
  username: z.string().check(z.regex(/^[^\0\p{Surrogate}]{1,256}$/u)),
  // Not `z.uuid()`: that refuses UUIDs without the version and variant of RFC 9562.
  project_id: z.guid(),
});

const present = z.unknown().check(
  z.refine((value) => value !== undefined && value !== null && value !== ""),
);
const CompleteBody = z.object({ username: present, project_id: present });

/** A well-formed question: does this user hold an active key of this project? */
export type ActivationCheck = z.infer<typeof ActivationCheck>;

// Strict, because a replaced byte would be another user's name.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads and validates the body of a POST, after the contract's section "Request".
 *
 * @param request Its headers are not looked at, save for `Content-Length`.
 * @returns The check, or what is wrong with the request. Never throws.
 */
export async function readActivationCheck(
  request: Request,
): Promise<ActivationCheck | BadRequest> {
  let body: unknown;
  try {
    const bytes = await readBytes(request);
    if (bytes === undefined) return "body_too_large";
    if (bytes.length === 0) return "missing_field";
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    // No UTF-8, no JSON, or a caller that hung up before the end.
    return "invalid_json";
  }

  const check = ActivationCheck.safeParse(body);
  if (check.success) return check.data;
  // "Missing" beats "invalid".
  const isComplete = CompleteBody.safeParse(body).success;
  return isComplete ? "invalid_field" : "missing_field";
}

/** The whole body, or `undefined` when it is longer than `MAX_BODY_BYTES`. */
async function readBytes(request: Request): Promise<Uint8Array | undefined> {
  const { headers, body } = request;
  const declared = Number(headers.get("Content-Length") ?? NaN);
  // A body of declared length is read whole: as a stream, it would cost a third of the throughput.
  // Deno 2.1 takes both headers at once, and then the declared length is not the body's.
  if (declared <= MAX_BODY_BYTES && !headers.has("Transfer-Encoding")) {
    return await request.bytes();
  }
  if (!body) return new Uint8Array();

  const reader = body.getReader();
  if (!(declared > MAX_BODY_BYTES)) {
    const whole = new Uint8Array(MAX_BODY_BYTES);
    let length = 0;
    for (;;) {
      const { value } = await reader.read();
      if (!value) return whole.subarray(0, length);
      if (length + value.length > MAX_BODY_BYTES) break;
      whole.set(value, length);
      length += value.length;
    }
  }
  await discard(reader);
  return undefined;
}

/** Reads on for a while: an answer to a caller that is still writing gets lost. */
async function discard(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<void> {
  // Cancelling ends a read that waits for more.
  const stop = () => reader.cancel().catch(() => {});
  const timer = setTimeout(stop, MAX_DISCARDING_MS);
  try {
    for (let bytes = 0; bytes < MAX_DISCARDED_BYTES;) {
      const { value } = await reader.read();
      if (!value) break;
      bytes += value.length;
    }
  } catch {
    // The caller hung up.
  } finally {
    clearTimeout(timer);
  }
}
