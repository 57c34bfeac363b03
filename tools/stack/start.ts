/** `deno task start`: runs the whole service on this machine, without Docker, until Ctrl-C. */
import { parseArgs } from "node:util";
import { FUNCTION_FOLDER_PATH, FUNCTION_URL_PATH, SEEDED } from "../project.ts";
import { LOCAL_SERVICE, type Service } from "./local_service.ts";
import { explain } from "./start_error.ts";

const DEFAULT_PORT = new URL(LOCAL_SERVICE.API_URL).port;
const USAGE = `Usage: deno task start [--port <number>]

Runs PostgreSQL, the Data API and the edge function on this machine until Ctrl-C.

  --port <number>  TCP port of the address. ${DEFAULT_PORT} if not given; 0 for any free one.
  -h, --help       Prints this.`;

const port = readPort();
exitWhenAsked();
console.error("Starting PostgreSQL, the Data API and the edge function ...");
try {
  // Not earlier, because importing PostgreSQL takes a while: --help does not wait for it.
  const { startStack } = await import("./stack.ts");
  const { service } = await startStack({ watch: true }, port);
  console.log(screen(service));
} catch (error) {
  fail(explain(error, port));
}

function readPort(): number {
  const options = {
    port: { type: "string", default: DEFAULT_PORT },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const { help, port } = parseArgs({ args: Deno.args, options }).values;
    if (help) {
      console.log(USAGE);
      Deno.exit(0);
    }
    if (/^\d+$/.test(port) && Number(port) < 65_536) return Number(port);
    throw new Error(`--port takes a number from 0 to 65535, not "${port}".`);
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Exits at Ctrl-C, when the terminal is closed, and when `deno task`, the parent, has ended. */
function exitWhenAsked(): void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => Deno.exit(0));
  }
  const parent = Deno.ppid;
  setInterval(() => Deno.ppid !== parent && Deno.exit(0), 1_000);
}

/** What a person sees once everything runs, with requests to copy into a shell. */
function screen({ API_URL, PUBLISHABLE_KEY, SECRET_KEY }: Service): string {
  // With `\"` inside of double quotes, which bash, zsh and cmd read alike.
  const json = (body: unknown) => JSON.stringify(body).replaceAll('"', '\\"');
  const post = (body: unknown) =>
    `-H "Content-Type: application/json" -d "${json(body)}"`;
  const { project_id } = SEEDED;
  const key = { project_id, curr_user: "Amelia#1937" };
  return `
API_URL=${API_URL}
PUBLISHABLE_KEY=${PUBLISHABLE_KEY}
SECRET_KEY=${SECRET_KEY}

These lines are for bash, zsh and cmd; in PowerShell, type \`cmd\` first.

Ask whether a user holds a key:
curl -i ${API_URL}${FUNCTION_URL_PATH} ${post(SEEDED)}

Add a key:
curl -i ${API_URL}/rest/v1/activation_keys -H "apikey: ${SECRET_KEY}" ${
    post(key)
  }

Edits of ${FUNCTION_FOLDER_PATH} are served as you save them.
Keys are in memory and last until Ctrl-C. Those of supabase/seed.sql are there at each start.`;
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
