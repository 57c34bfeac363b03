import * as z from "zod/mini";
import { readBody } from "./body.ts";

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

// A field that is absent, null or "" is missing.
const Present = z.unknown().check(z.refine((value) => (value ?? "") !== ""));
const Complete = z.object({ username: Present, project_id: Present });

/**
 * Reads and validates the body of a POST. `Content-Type` and credentials are not looked at.
 *
 * @param request The POST.
 * @returns The check, or what is wrong with the request: the name of its response. Never throws.
 */
export async function readActivationCheck(request: Request) {
  const received = await readBody(request);
  // A string is the reason why there is no body.
  if (typeof received === "string") return received;

  let body: unknown;
  try {
    const text = utf8.decode(received);
    // An empty body counts as `null`.
    body = text === "" ? null : JSON.parse(text);
  } catch {
    return "invalid_json";
  }

  const { success, data } = ActivationCheck.safeParse(body);
  if (success) return data;
  // "Missing" beats "invalid".
  return Complete.safeParse(body).success ? "invalid_field" : "missing_field";
}
