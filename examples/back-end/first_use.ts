/**
 * Records the first use of an activation key, for the back end of an operator: the program that
 * writes the user's name into the key's row. Copy this file whole. `README.md`, beside
 * this file, says how to call it, and which versions of its packages were tested.
 *
 * The file reads two variables when it is loaded: `SUPABASE_URL`, the address of the Supabase
 * project, and `BACK_END_SECRET_KEY`, a secret key that only this program uses.
 */
import process from "node:process";
import { createClient } from "@supabase/supabase-js";
import * as z from "zod";

// What the add-on sends. The rules are those of the service, in its `request.ts`. The Data API rejects
// other names, so the back end would send 503 for them, and the add-on would ask again for ever.
const FirstUse = z.object({
  key: z.guid(),
  project_id: z.guid(),
  username: z.string().regex(/^[^\0\p{Surrogate}]{1,256}$/u),
});
const Rows = z.array(z.object({ curr_user: z.string() }));

// supabase-js alone would report success for some statuses other than 200, such as a 404 whose body
// is a list, and would wait for a body for ever. A redirect would take the secret key elsewhere.
const fetchOnly200: typeof fetch = async (input, init) => {
  const signal = AbortSignal.timeout(10_000); // Covers the body, too.
  const response = await fetch(input, { ...init, redirect: "manual", signal });
  if (response.status === 200) return response;
  throw new Error(`The Data API responded with ${response.status}`);
};
const supabase = createClient(process.env.SUPABASE_URL!, process.env.BACK_END_SECRET_KEY!, {
  global: { fetch: fetchOnly200 },
  db: { retry: false }, // Otherwise, a select that fails would be repeated, for 7 s.
});

/**
 * Records that a user has used a key, unless another user has.
 *
 * @param values What the add-on has sent: an object with `key`, `project_id` and `username`.
 * @returns Whether the key is this user's, from now on or already.
 * @throws A `ZodError` if a value is missing or wrong: nothing was sent to the Data API. Any other
 * error means that it is not known whose key it is. Then the add-on has to ask again. A call ends
 * within 20 s, because each of its two requests ends within 10 s.
 */
export async function recordFirstUse(values: unknown): Promise<boolean> {
  const { key, project_id, username } = FirstUse.parse(values);
  // Each filter is an `eq` of its own, because `match` would leave out a value that is undefined. If
  // two users send the same key at once, only the first update finds a null name.
  const changed = await supabase.from("activation_keys").update({ curr_user: username })
    .eq("id", key).eq("project_id", project_id).is("curr_user", null)
    .select("curr_user").throwOnError();
  if (namesOf(changed.data).includes(username)) return true;
  // The key is used already, or there is no such key of this product.
  const found = await supabase.from("activation_keys").select("curr_user")
    .eq("id", key).eq("project_id", project_id).throwOnError();
  return namesOf(found.data).includes(username);
}

/** Returns the names in rows. Throws an `Error`, because a `ZodError` is a mistake of the add-on. */
function namesOf(rows: unknown): string[] {
  const { data } = Rows.safeParse(rows);
  if (!data) throw new Error("The Data API did not send a list of rows with names");
  return data.map((row) => row.curr_user);
}
