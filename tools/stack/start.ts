/** `deno task start`: runs the whole service on this machine, without Docker, until Ctrl-C. */
import { FUNCTION_FOLDER_PATH, FUNCTION_URL_PATH, SEEDED } from "../project.ts";
import { LOCAL_SERVICE, type Service } from "./local_service.ts";
import { startStack } from "./stack.ts";

const DEFAULT_PORT = new URL(LOCAL_SERVICE.API_URL).port;
const USAGE = `Usage: deno task start [--port <number>]
The port is ${DEFAULT_PORT} if not given; 0 takes any free one.`;

// Takes `--port 0` and `--port=0`. For any other arguments, the port is NaN.
const args = Deno.args.join("=") || `--port=${DEFAULT_PORT}`;
const port = Number(args.match(/^--port=(\d+)$/)?.[1]);
if (!(port < 65_536)) fail(USAGE);

// Exits at Ctrl-C, when the terminal is closed, and when `deno task`, the parent, has ended.
const signals: Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  Deno.addSignalListener(signal, () => Deno.exit(0));
}
const parent = Deno.ppid;
setInterval(() => Deno.ppid !== parent && Deno.exit(0), 1_000);

console.error("Starting PostgreSQL, the Data API and the edge function ...");
try {
  const { service } = await startStack({ watch: true }, port);
  console.log(screen(service));
} catch (error) {
  const { message, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== "listen") fail(message);
  // Windows reserves blocks of ports for Hyper-V, WSL and Docker.
  fail(`Port ${port} cannot be taken: ${message}
Perhaps \`supabase start\` or another \`deno task start\` has it: end that. On Windows, it may be
reserved: see \`netsh interface ipv4 show excludedportrange protocol=tcp\`.
Or take another port: deno task start --port 8321`);
}

/** What a person sees once everything runs, with requests to copy into a shell. */
function screen({ API_URL, PUBLISHABLE_KEY, SECRET_KEY }: Service): string {
  // With `\"` inside of double quotes, which bash, zsh and cmd read alike.
  const json = (body: unknown) => JSON.stringify(body).replaceAll('"', '\\"');
  const post = (body: unknown) =>
    `-H "Content-Type: application/json" -d "${json(body)}"`;
  const { project_id } = SEEDED;
  const key = post({ project_id, curr_user: "Amelia#1937" });
  return `
API_URL=${API_URL}
PUBLISHABLE_KEY=${PUBLISHABLE_KEY}
SECRET_KEY=${SECRET_KEY}

These lines are for bash, zsh and cmd; in PowerShell, type \`cmd\` first.

Ask whether a user holds a key:
curl -i ${API_URL}${FUNCTION_URL_PATH} ${post(SEEDED)}

Add a key:
curl -i ${API_URL}/rest/v1/activation_keys -H "apikey: ${SECRET_KEY}" ${key}

Edits of ${FUNCTION_FOLDER_PATH} are served as you save them.
Keys are in memory and last until Ctrl-C. Those of supabase/seed.sql are there at each start.`;
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
