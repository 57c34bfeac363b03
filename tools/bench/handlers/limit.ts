/** The limit: only the `fetch` that no check can do without. */
import { secretKey, url } from "./environment.ts";

const headers = { apikey: secretKey, Authorization: `Bearer ${secretKey}` };

export default {
  async fetch(request: Request): Promise<Response> {
    const { username, project_id } = await request.json();
    const query = new URLSearchParams({
      select: "project_id",
      project_id: `eq.${project_id}`,
      curr_user: `eq.${username}`,
      limit: "1",
    });
    const response = await fetch(`${url}/rest/v1/activation_keys?${query}`, {
      headers,
    });
    const rows = await response.json();
    return Response.json({ success: rows.length > 0 });
  },
};
