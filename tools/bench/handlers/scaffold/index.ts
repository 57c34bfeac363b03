/** The same check on what `supabase functions new --auth none` gives: a client for each request. */
import { withSupabase } from "@supabase/server";

export default {
  fetch: withSupabase({ auth: "none" }, async (request, context) => {
    const { username, project_id } = await request.json();
    const { data } = await context.supabaseAdmin
      .from("activation_keys")
      .select("project_id")
      .eq("project_id", project_id)
      .eq("curr_user", username)
      .limit(1);
    return Response.json({ success: (data ?? []).length > 0 });
  }),
};
