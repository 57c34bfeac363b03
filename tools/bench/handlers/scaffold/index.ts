/** The same check on what `supabase functions new --auth none` gives: a client for each request. */
import { withSupabase } from "@supabase/server";

export default {
  fetch: withSupabase({ auth: "none" }, async (request, { supabaseAdmin }) => {
    const { username, project_id } = await request.json();
    const { data } = await supabaseAdmin.from("activation_keys")
      .select("project_id").match({ project_id, curr_user: username }).limit(1);
    return Response.json({ success: data?.length === 1 });
  }),
};
