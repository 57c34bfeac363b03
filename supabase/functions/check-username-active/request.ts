/** Reads and validates a POST. */
import * as z from "zod";
import { readBody } from "./body.ts";
import type { ResponseName } from "./responses.ts";

// Strict, because replacing an invalid byte would turn one name into another. The decoder skips a
// byte order mark, which C# writers send.
const utf8 = new TextDecoder("utf-8", { fatal: true });

const ActivationCheck = z.object({
  // 1 to 256 code points, which `u` counts instead of UTF-16 units. PostgreSQL cannot store U+0000.
  // A lone surrogate would become U+FFFD in the address of the query to the Data API, and then the
  // query would match a user who has U+FFFD in the name.
  username: z.string().regex(/^[^\0\p{Surrogate}]{1,256}$/u),
  // `z.uuid()` takes only the UUIDs of RFC 9562, but PostgreSQL stores any. The UUID is
  // turned into lower case, because the lookup compares it with what the Data API returns.
  project_id: z.guid().toLowerCase(),
});

/** A well-formed question: does this user hold an active key of this product? */
export type ActivationCheck = z.infer<typeof ActivationCheck>;

/**
 * Reads and validates the body of a POST, as README.md's "The contract" says. `Content-Type` and
 * credentials are ignored.
 *
 * @param request The POST.
 * @returns The check, or the name of the response that tells what is wrong with the request.
 */
export async function readActivationCheck(
  request: Request,
): Promise<{ check: ActivationCheck } | { rejectedAs: ResponseName }> {
  const body = await readBody(request);
  if ("rejectedAs" in body) return body;

  let json: unknown;
  try {
    const text = utf8.decode(body.bytes);
    json = text === "" ? null : JSON.parse(text);
  } catch {
    return { rejectedAs: "invalid_json" };
  }

  const { success, data } = ActivationCheck.safeParse(json);
  if (success) return { check: data };
  // A field that is absent, null or "" is missing. JSON that is not an object has no fields. If one
  // field is missing and the other is invalid, the response is "Missing …".
  const { username, project_id }: Record<string, unknown> = Object(json);
  const isIncomplete = [username, project_id].some((field) => (field ?? "") === "");
  return { rejectedAs: isIncomplete ? "missing_field" : "invalid_field" };
}
