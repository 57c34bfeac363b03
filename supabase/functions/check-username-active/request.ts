import * as z from "zod/mini";
import { readBody } from "./body.ts";

const ActivationCheck = z.object({
  // 1 to 256 code points (not UTF-16 units), without U+0000 and lone surrogates: neither can be
  // stored, and a lone surrogate would turn into U+FFFD in the query's URL and match that user.
  username: z.string().check(z.regex(/^[^\0\p{Surrogate}]{1,256}$/u)),
  // Not `z.uuid()`: that refuses UUIDs without the version and variant of RFC 9562.
  // In lower case, as in the rows that it is compared with.
  project_id: z.guid().check(z.toLowerCase()),
});

const present = z.unknown().check(z.refine((value) => (value ?? "") !== ""));
const Complete = z.object({ username: present, project_id: present });

/** A well-formed question: does this user hold an active key of this project? */
export type ActivationCheck = z.infer<typeof ActivationCheck>;

/**
 * Reads and validates the body of a POST. `Content-Type` and credentials are not looked at.
 *
 * @param request The POST.
 * @returns The check, or the problem with the request. Never throws.
 */
export async function readActivationCheck(request: Request) {
  const bytes = await readBody(request);
  if (typeof bytes === "string") return { problem: bytes };

  let body: unknown;
  try {
    // Without a byte order mark. Strict, because a replaced byte would be another user's name.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // An empty body counts as `null`.
    body = text === "" ? null : JSON.parse(text);
  } catch {
    return { problem: "invalid_json" } as const;
  }

  const { success, data } = ActivationCheck.safeParse(body);
  if (success) return { check: data };
  // "Missing" beats "invalid".
  const isComplete = Complete.safeParse(body).success;
  return { problem: isComplete ? "invalid_field" : "missing_field" } as const;
}
