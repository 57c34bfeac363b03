/** `deno task start`: runs the whole service on this machine, without Docker, until Ctrl-C. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { edgeDeno, VERSIONS } from "./command.ts";
import { startDataApi } from "./local_data_api.ts";
import { startFunction } from "./function_process.ts";
import { startGateway } from "./gateway.ts";
import * as project from "./project.ts";

const { LOCAL_SERVICE } = project;

const DEFAULT_PORT = new URL(LOCAL_SERVICE.API_URL).port;
const USAGE = `Usage: deno task start [options]

  --port <number>      Where to listen: ${DEFAULT_PORT} by default; 0 is any free port.
  --deployed <folder>  Runs the function of this folder as it is, with the edge runtime's Deno.
  --help               Prints this.`;

// Ends at Ctrl-C, when the terminal is closed, and when `deno task`, the parent, has ended.
const signals: Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) Deno.addSignalListener(signal, () => end(0));
const parent = Deno.ppid;
setInterval(() => Deno.ppid !== parent && end(0), 1_000);

const { help, port, deployed } = readArguments();
if (help) {
  console.log(USAGE);
  Deno.exit();
}
console.error("Starting PostgreSQL, the Data API and the edge function ...");
try {
  const dataApi = await startDataApi();
  const options = deployed
    ? { folder: pathToFileURL(`${resolve(deployed)}/`), deno: await edgeDeno() }
    : { watch: true };
  const edgeFunction = await startFunction(dataApi.url, options);
  const gateway = await startGateway(Number(port), dataApi.url, edgeFunction.url);
  console.log(screen(gateway.url));
} catch (error) {
  const { message, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== "listen") end(1, message);
  // Windows reserves blocks of ports for Hyper-V, WSL and Docker.
  const advice = `Port ${port} cannot be taken: ${message}
Perhaps \`supabase start\` or another \`deno task start\` has it: end that. On Windows, it may be
reserved: see \`netsh interface ipv4 show excludedportrange protocol=tcp\`.
Or take another port: npx -y deno@${VERSIONS.deno} task start --port 8321`;
  end(1, advice);
}

function readArguments() {
  const type = "string";
  const port = { type, default: DEFAULT_PORT } as const;
  const options = { port, deployed: { type }, help: { type: "boolean" } } as const;
  try {
    const { values } = parseArgs({ args: Deno.args, options });
    // An unset variable of a script would otherwise serve the repository's own function.
    if (values.deployed === "") throw new Error('--deployed needs a folder, not "".');
    return values;
  } catch (error) {
    end(1, `${(error as Error).message}\n\n${USAGE}`);
  }
}

/** What a person sees once everything runs, with the requests of README.md to copy into a shell. */
function screen(url: string): string {
  const page = Deno.readTextFileSync(new URL("README.md", project.PROJECT));
  const [ask, firstUse] = Array.from(
    page.matchAll(/^curl .*$/gm),
    ([line]) =>
      line.replace(LOCAL_SERVICE.API_URL, url).replace("<SECRET_KEY>", LOCAL_SERVICE.SECRET_KEY),
  );
  return `
API_URL=${url}
PUBLISHABLE_KEY=${LOCAL_SERVICE.PUBLISHABLE_KEY}
SECRET_KEY=${LOCAL_SERVICE.SECRET_KEY}

These requests are for bash, zsh and cmd. (In PowerShell, type \`cmd\` first.)
Ask about a user who holds no key, which gets 499:
${ask}
Record the first use of an unused key, as a back end does, which prints true:
${firstUse}
Ask again, which gets 200:
${ask}

Edits of ${project.FUNCTION_FOLDER_PATH} are served as you save them.
Keys are in memory and last until Ctrl-C. Those of supabase/seed.sql are there at each start.`;
}

function end(code: number, message = ""): never {
  if (message) console.error(message);
  Deno.exit(code);
}
