/**
 * Records the first use of an activation key, for the back end of an operator: the program that
 * writes the user's name into the key's row. Copy this file whole. `README.md`, beside this file,
 * says how to call it, and which versions of its packages were tested.
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
  key: z.guid().toLowerCase(), // As the Data API writes it, because its rows are compared with it.
  project_id: z.guid().toLowerCase(),
  username: z.string().regex(/^[^\0\p{Surrogate}]{1,256}$/u),
});

// A back end logs what is thrown here. The error of `fetch` may contain the address, with a key that
// is still unused, and that of supabase-js a body that is no JSON. So neither error is passed on.
const fetchJson: typeof fetch = async (input, init) => {
  const signal = AbortSignal.timeout(10_000); // Covers the body, too.
  let status, text;
  try {
    // A redirect is not followed, because it would take the secret key elsewhere.
    const response = await fetch(input, { ...init, redirect: "manual", signal });
    status = response.status;
    text = await response.text(); // Whatever the status: a body that is not read holds a connection.
    if (status === 200) JSON.parse(text);
  } catch (error) {
    throw new Error(`The Data API did not send a whole response in JSON: ${(error as Error).name}`);
  }
  // supabase-js would report success for some other statuses, such as a 404 whose body is a list.
  if (status !== 200) throw new Error(`The Data API responded with ${status}`);
  return new Response(text);
};
const { SUPABASE_URL = "", BACK_END_SECRET_KEY = "" } = process.env;
// A line break in it would bring the secret key into an error of each request.
if (!/^[!-~]+$/.test(BACK_END_SECRET_KEY)) throw new Error("Set BACK_END_SECRET_KEY, in one line");
const supabase = createClient(SUPABASE_URL, BACK_END_SECRET_KEY, {
  global: { fetch: fetchJson },
  db: { retry: false }, // Otherwise, a select that fails would be repeated, for 7 s.
});

/**
 * Records that a user has used a key, unless another user has.
 *
 * @param values What the add-on has sent: an object with `key`, `project_id` and `username`.
 * @returns Whether the key is this user's, from now on or already.
 * @throws A `ZodError` if a value is missing or wrong: nothing was sent to the Data API. Any other
 * error means that it is not known whose key it is. Then the add-on has to ask again. No error has a
 * key, a name or an address in it. A call ends within 20 s: each of its two requests within 10 s.
 */
export async function recordFirstUse(values: unknown): Promise<boolean> {
  const { key, project_id, username } = FirstUse.parse(values);
  // Each filter is an `eq` of its own, because `match` would leave out a value that is undefined. If
  // two users send the same key at once, only the first update finds a null name.
  const changed = await supabase.from("activation_keys").update({ curr_user: username })
    .eq("id", key).eq("project_id", project_id).is("curr_user", null)
    .select("id,project_id,curr_user").throwOnError();
  if (nameIn(changed.data, key, project_id) === username) return true;
  // The key is used already, or there is no such key of this product.
  const found = await supabase.from("activation_keys").select("id,project_id,curr_user")
    .eq("id", key).eq("project_id", project_id).throwOnError();
  return nameIn(found.data, key, project_id) === username;
}

/**
 * Returns the name in the row of a key, or undefined if there is no row. Throws an `Error` if it is
 * not the row that was asked for: a stray response on a connection has the row of another key.
 */
function nameIn(rows: unknown, key: string, project_id: string): string | undefined {
  const ids = { id: z.literal(key), project_id: z.literal(project_id) };
  const Row = z.object({ ...ids, curr_user: FirstUse.shape.username });
  const { data } = z.array(Row).max(1).safeParse(rows);
  if (!data) throw new Error("The Data API sent something other than the row of this key");
  return data[0]?.curr_user;
}
