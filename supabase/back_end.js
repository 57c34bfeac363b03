/**
 * What a shop's back end does with keys, for Node 22 or later: `npm install @supabase/supabase-js`.
 * Set SUPABASE_URL (`https://<ref>.supabase.co`) and SUPABASE_SECRET_KEY in its environment.
 */
import process from "node:process";
import { createClient } from "@supabase/supabase-js";

const { SUPABASE_URL, SUPABASE_SECRET_KEY } = process.env;
const supabase = createClient(SUPABASE_URL, SUPABASE_SECRET_KEY);

/** Issues a key of a product. Returns its id, for the order. */
export async function issueKey(project_id) {
  const { data } = await supabase.from("activation_keys")
    .insert({ project_id }).select("id").single().throwOnError();
  return data.id;
}

/**
 * Records a key's first use. Returns false if no unused key of this product has this id. Throws an
 * error with the code 22P02 if the id is not a UUID.
 */
export async function recordFirstUse(id, project_id, curr_user) {
  const { data } = await supabase.from("activation_keys")
    .update({ curr_user }).eq("id", id).eq("project_id", project_id)
    .is("curr_user", null).select("id").throwOnError();
  return data.length === 1;
}
