/** What `deno task start` prints, for the system that it runs on. */
import { FUNCTION_FOLDER_PATH, FUNCTION_PATH, SEEDED } from "../project.ts";
import type { Service } from "./local_service.ts";

/** Something that a person can put right. Its message says what happened and what to do. */
export class StartError extends Error {}

type System = typeof Deno.build.os;

/** What a person sees when everything runs, with requests for that system's shells. */
export function screen(
  { API_URL, PUBLISHABLE_KEY, SECRET_KEY }: Service,
  os: System,
): string {
  const ask = { url: API_URL + FUNCTION_PATH, body: SEEDED };
  const addKey = {
    url: `${API_URL}/rest/v1/activation_keys`,
    apikey: SECRET_KEY,
    body: { project_id: SEEDED.project_id, curr_user: "Amelia#1937" },
  };
  const commands = (post: Post) =>
    os === "windows"
      ? `, in PowerShell:\n${invokeRestMethod(post)}\nor in cmd:\n${curl(post)}`
      : `:\n${curl(post)}`;
  return `
Ask and add keys in a browser: ${API_URL}/

API_URL=${API_URL}
PUBLISHABLE_KEY=${PUBLISHABLE_KEY}
SECRET_KEY=${SECRET_KEY}

Ask whether a user holds a key${commands(ask)}

Add a key${commands(addKey)}

Edits of ${FUNCTION_FOLDER_PATH} are served as you save them.
Keys are in memory and last until Ctrl-C. Those of supabase/seed.sql are there at each start.`;
}

interface Post {
  url: string;
  apikey?: string;
  body: Record<string, string>;
}

/** In double quotes with `\"` inside, which bash, zsh and cmd read alike. */
function curl({ url, apikey, body }: Post): string {
  const key = apikey ? ` -H "apikey: ${apikey}"` : "";
  const json = JSON.stringify(body).replaceAll('"', '\\"');
  return `curl -i ${url}${key} -H "Content-Type: application/json" -d "${json}"`;
}

/** Windows PowerShell 5.1 would send names outside of Latin-1 as `?` if no charset is given. */
function invokeRestMethod({ url, apikey, body }: Post): string {
  const key = apikey ? ` -Headers @{ apikey = '${apikey}' }` : "";
  const type = "-ContentType 'application/json; charset=utf-8'";
  const json = JSON.stringify(body);
  return `Invoke-RestMethod ${url} -Method Post${key} ${type} -Body '${json}'`;
}

/** What happened when the stack does not start, and what to do next with that system's tools. */
export function explain(error: unknown, port: number, os: System): string {
  if (error instanceof StartError) return error.message;
  const { code, stack } = error as Error & { code?: string };
  const isWindows = os === "windows";
  const other = "Or take another port: deno task start --port 8321";
  if (code === "EADDRINUSE") {
    const who = (isWindows ? "netstat -ano | findstr :" : "lsof -i :") + port;
    return `Port ${port} is taken, perhaps by \`supabase start\` or by another \`deno task start\`. ` +
      `End that; \`${who}\` shows which process it is.\n${other}`;
  }
  if (code !== "EACCES") {
    return `This is a defect of the local stack:\n${stack}`;
  }
  const why = isWindows
    ? `Windows does not let go of port ${port}: it reserves blocks of ports, for Hyper-V, WSL or Docker. ` +
      "`netsh interface ipv4 show excludedportrange protocol=tcp` lists them."
    : `This user may not take port ${port}: ports below 1024 are for administrators.`;
  return `${why}\n${other}`;
}
