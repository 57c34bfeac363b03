/** Bare supabase-js: one client, no limits, no validation, no time-out, no CORS. */
import { createClient } from "@supabase/supabase-js";

const { SUPABASE_URL = "", SUPABASE_SECRET_KEYS = "{}" } = Deno.env.toObject();
const secretKey: string = JSON.parse(SUPABASE_SECRET_KEYS).default;

const supabase = createClient(SUPABASE_URL, secretKey, {
  auth: { persistSession: false, autoRefreshToken: false },
});

export default {
  async fetch(request: Request): Promise<Response> {
    const { username, project_id } = await request.json();
    const { data } = await supabase
      .from("activation_keys")
      .select("project_id")
      .eq("project_id", project_id)
      .eq("curr_user", username)
      .limit(1);
    return Response.json({ success: (data ?? []).length > 0 });
  },
};
