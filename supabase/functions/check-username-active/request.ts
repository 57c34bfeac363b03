import * as z from "zod/mini";
import { readBody } from "./body.ts";
import type { Outcome } from "./responses.ts";

// Strict: replacing an invalid byte would make another name. The decoder skips a byte order mark.
const utf8 = new TextDecoder("utf-8", { fatal: true });

const ActivationCheck = z.object({
  // 1 to 256 code points (not UTF-16 units), without U+0000 and lone surrogates: neither can be
  // stored. In the query's URL, a lone surrogate would become U+FFFD: another user's name.
  username: z.string().check(z.regex(/^[^\0\p{Surrogate}]{1,256}$/u)),
  // Not `z.uuid()`, which takes only those of RFC 9562: PostgreSQL stores any UUID. It is turned to
  // lower case, as the Data API returns it.
  project_id: z.guid().check(z.toLowerCase()),
});

/** A well-formed question: does this user hold an active key of this product? */
export type ActivationCheck = z.infer<typeof ActivationCheck>;

/**
 * Reads and validates the body of a POST. `Content-Type` and credentials are not looked at.
 *
 * @param request The POST.
 * @returns The check, or what is wrong with the request.
 */
export async function readActivationCheck(
  request: Request,
): Promise<{ check: ActivationCheck } | { problem: Outcome }> {
  const body = await readBody(request);
  if ("problem" in body) return body;

  let json: unknown;
  try {
    const text = utf8.decode(body.bytes);
    json = text === "" ? null : JSON.parse(text);
  } catch {
    return { problem: "invalid_json" };
  }

  const { success, data } = ActivationCheck.safeParse(json);
  if (success) return { check: data };
  // "Missing" beats "invalid". JSON that is not an object has no fields.
  const { username, project_id }: Partial<ActivationCheck> = Object(json);
  const isComplete = [username, project_id].every((it) => (it ?? "") !== "");
  return { problem: isComplete ? "invalid_field" : "missing_field" };
}
