/** What `deno task start` prints, for the system that it runs on. */
import { FUNCTION_FOLDER_PATH, FUNCTION_URL_PATH, SEEDED } from "../project.ts";
import type { Service } from "./local_service.ts";

/** What a person sees once everything runs, with requests to copy into a shell. */
export function screen(
  { API_URL, PUBLISHABLE_KEY, SECRET_KEY }: Service,
  os: typeof Deno.build.os,
): string {
  const keysArgs =
    `${API_URL}/rest/v1/activation_keys -H "apikey: ${SECRET_KEY}"`;
  const newKey = { project_id: SEEDED.project_id, curr_user: "Amelia#1937" };
  const hint = os === "windows" ? " (in PowerShell, type `cmd` first)" : "";
  return `
Ask in a browser: ${API_URL}/

API_URL=${API_URL}
PUBLISHABLE_KEY=${PUBLISHABLE_KEY}
SECRET_KEY=${SECRET_KEY}

Ask whether a user holds a key${hint}:
${curl(API_URL + FUNCTION_URL_PATH, SEEDED)}

Add a key:
${curl(keysArgs, newKey)}

Edits of ${FUNCTION_FOLDER_PATH} are served as you save them.
Keys are in memory and last until Ctrl-C. Those of supabase/seed.sql are there at each start.`;
}

/** A request with `\"` inside of double quotes, which bash, zsh and cmd read alike. */
function curl(args: string, body: Record<string, string>): string {
  const json = JSON.stringify(body).replaceAll('"', '\\"');
  return `curl -i ${args} -H "Content-Type: application/json" -d "${json}"`;
}
