/**
 * `deno task start`: runs the whole service on this machine, without Docker, until Ctrl-C.
 */
import { parseArgs } from "node:util";
import { VERSIONS } from "../versions.ts";
import { LOCAL_SERVICE } from "./local_service.ts";
import { explain, screen } from "./screen.ts";

const DEFAULT_PORT = new URL(LOCAL_SERVICE.API_URL).port;
const USAGE = `Usage: deno task start [--port <number>]

Runs PostgreSQL, the Data API and the edge function on this machine until Ctrl-C.

  --port <number>  TCP port of the address. ${DEFAULT_PORT} if not given; 0 for any free one.
  --help           Prints this.`;

requireDeno();
const port = readArguments();
endWhenAsked();
console.error("Starting PostgreSQL, the Data API and the edge function ...");
try {
  // Not before the arguments and Deno's version are known to be right.
  const { startStack } = await import("./stack.ts");
  const { service } = await startStack({ port, watch: true });
  console.log(screen(service, Deno.build.os));
} catch (error) {
  fail(explain(error, port, Deno.build.os));
}

function readArguments(): number {
  try {
    const { values } = parseArgs({
      args: Deno.args,
      options: {
        port: { type: "string", default: DEFAULT_PORT },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help) {
      console.log(USAGE);
      Deno.exit(0);
    }
    const isPort = /^\d+$/.test(values.port) && Number(values.port) < 65_536;
    if (isPort) return Number(values.port);
    throw new Error(
      `--port takes a decimal number from 0 to 65535, not "${values.port}".`,
    );
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/**
 * Ends at Ctrl-C, when the terminal is closed, and when `deno task` was killed. Everything is in
 * memory, and the function's process ends with this one.
 */
function endWhenAsked(): void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => Deno.exit(0));
  }
  const parent = Deno.ppid;
  setInterval(() => Deno.ppid === parent || Deno.exit(0), 1_000);
}

/** Stops at a Deno that is too old, before it fails at something that it does not know. */
function requireDeno(): void {
  const { lowestDeno, deno: recommended } = VERSIONS;
  const actual = Deno.version.deno;
  if (actual.localeCompare(lowestDeno, "en", { numeric: true }) >= 0) return;
  fail(
    `This is Deno ${actual}, and the lowest that runs this is ${lowestDeno}. ` +
      `Upgrade it (deno upgrade), or use: npx -y deno@${recommended} task start`,
  );
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
