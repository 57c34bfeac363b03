/** Bare supabase-js: one client, no limits, no validation, no time-out, no CORS. */
import { createClient } from "@supabase/supabase-js";

const { SUPABASE_URL = "", SUPABASE_SECRET_KEYS = "{}" } = Deno.env.toObject();
const supabase = createClient(
  SUPABASE_URL,
  JSON.parse(SUPABASE_SECRET_KEYS).default,
  { auth: { persistSession: false, autoRefreshToken: false } },
);

export default {
  async fetch(request: Request): Promise<Response> {
    const { username, project_id } = await request.json();
    const { data } = await supabase.from("activation_keys")
      .select("project_id,curr_user")
      .match({ project_id, curr_user: username }).limit(1);
    return Response.json({ success: data?.length === 1 });
  },
};
