/**
 * `deno task start`: runs the whole service on this machine, without Docker, until Ctrl-C.
 */
import { parseArgs } from "node:util";
import { FUNCTION_PATH } from "./gateway.ts";
import { LOCAL_SERVICE } from "./local_service.ts";
import { startStack } from "./stack.ts";

/** That of `supabase start`. */
const DEFAULT_PORT = new URL(LOCAL_SERVICE.API_URL).port;

const { values } = parseArgs({
  args: Deno.args,
  options: { port: { type: "string", default: DEFAULT_PORT } },
});
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  fail("--port takes a number from 0 to 65535.");
}

console.error("Starting PostgreSQL, the Data API and the edge function ...");
try {
  await using stack = await startStack({
    port,
    onOutput: (text) => Deno.stderr.writeSync(new TextEncoder().encode(text)),
  });
  const { API_URL, PUBLISHABLE_KEY, SECRET_KEY } = stack.service;
  console.log(`
API_URL=${API_URL}
PUBLISHABLE_KEY=${PUBLISHABLE_KEY}
SECRET_KEY=${SECRET_KEY}

curl -i ${API_URL}${FUNCTION_PATH} -d '{"username":"CaptainKirin#0417","project_id":"6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4"}'

Ctrl-C ends it.`);
  await interruption();
} catch (error) {
  if (!(error instanceof Deno.errors.AddrInUse)) throw error;
  fail(
    `Port ${port} is taken, perhaps by \`supabase start\` or by another \`deno task start\`.\n` +
      `End that, or take another port: deno task start --port 54400`,
  );
}

function interruption(): Promise<void> {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  return new Promise((resolve) => {
    for (const signal of signals) Deno.addSignalListener(signal, resolve);
  });
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
