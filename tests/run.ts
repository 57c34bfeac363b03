/**
 * The tasks that test: each finds a service, or starts one, and runs the tests against it.
 *
 *     deno run -A tests/run.ts local|load|supabase|remote|deploy|docs|browser [arguments of deno test]
 */
import { PROJECT } from "../tools/project.ts";
import { downloadCli, readStatus, supabase } from "../tools/supabase_cli.ts";
import { LOCAL_SERVICE, type Service } from "../tools/stack/local_service.ts";
import { startStack } from "../tools/stack/stack.ts";

// Black box: any service will do.
const CONTRACT = ["tests/contract"];
// These start what they test themselves.
const LOCAL = ["tests/function", "tests/stack"];
const LOAD = ["tests/load"];
const DEPLOY = ["tests/deploy"];
const BROWSER = ["tests/docs/browser_test.ts"];
const DOCS = ["tests/docs", `--ignore=${BROWSER}`];

const [target = "", ...args] = Deno.args;
// Said outright, and last: `PGlite.close()` sets the process's exit code to 0.
Deno.exit(await run());

/** Runs the target's tests and returns the exit code. */
async function run(): Promise<number> {
  switch (target) {
    case "local":
      return await testLocally([...CONTRACT, ...LOCAL]);
    case "docs":
      return await testLocally(DOCS);
    case "browser":
      return await testLocally(BROWSER);
    case "load":
      return await test(LOAD, args);
    case "supabase":
      return await test(CONTRACT, args, await runningSupabase());
    case "remote":
      return await testRemotely();
    case "deploy":
      await downloadCli();
      return await test(DEPLOY, args);
    default:
      fail(`There is no such target: "${target}"`);
  }
}

async function testLocally(paths: string[]): Promise<number> {
  console.error("Starting the local stack ...");
  await using stack = await startStack();
  return await test(paths, ["--parallel", ...args], stack.service);
}

async function test(
  paths: string[],
  args: string[],
  service?: Partial<Service>,
): Promise<number> {
  if (service) console.error(`Testing ${service.API_URL} ...`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", ...args, ...paths],
    cwd: PROJECT,
    // With --parallel: one more than there are processors, because many tests wait.
    env: {
      DENO_JOBS: Deno.env.get("DENO_JOBS") ??
        `${navigator.hardwareConcurrency + 1}`,
      ...service,
      TEST_TARGET: target,
    },
    stdout: "piped",
  }).spawn();
  const [shown, read] = child.stdout.tee();
  const showing = shown.pipeTo(Deno.stdout.writable, { preventClose: true });
  let printed = "";
  for await (const text of read.pipeThrough(new TextDecoderStream())) {
    printed = (printed + text).slice(-1_000);
  }
  await showing;
  if (service && !service.SECRET_KEY) {
    console.error(
      "Tests that issue keys were ignored: they need SECRET_KEY.",
    );
  }
  const { code } = await child.status;
  // What `deno test` does not take for a failure, such as a --filter that no test has in its name.
  if (code !== 0 || !/\| 0 passed[^|]*\| 0 failed/.test(printed)) return code;
  console.error("No test ran. Does a test have the name that --filter gives?");
  return 1;
}

/** Tests a deployment. Without its secret key, nothing is written. */
async function testRemotely(): Promise<number> {
  const API_URL = Deno.env.get("API_URL")?.replace(/\/$/, "") ||
    fail("Name the service to test in the variable API_URL.");
  const SECRET_KEY = Deno.env.get("SECRET_KEY");
  if (!SECRET_KEY) return await test(CONTRACT, args, { API_URL });

  const PUBLISHABLE_KEY = Deno.env.get("PUBLISHABLE_KEY") ||
    fail("With SECRET_KEY, these tests need PUBLISHABLE_KEY as well.");
  if (!args.includes("--yes")) {
    fail(
      "With SECRET_KEY, these tests write rows of products of their own to activation_keys, and " +
        "remove them.\nIf that is all right: deno task test:remote --yes. Without SECRET_KEY, they " +
        "write nothing.",
    );
  }
  const others = args.filter((arg) => arg !== "--yes");
  return await test(CONTRACT, others, { API_URL, PUBLISHABLE_KEY, SECRET_KEY });
}

/** The stack of `supabase start`, with Docker or without. */
async function runningSupabase(): Promise<Service> {
  console.error("Asking `supabase status` for the address ...");
  let status = await supabase(["status", "-o", "env"]);
  // The stack without Docker has another flag for the same.
  const isRefused = status.stderr.includes("-o/--output flag is not supported");
  if (isRefused) status = await supabase(["status", "--env"]);
  if (status.code !== 0) {
    fail(
      `${status.stderr.trim()}\n\n` +
        "No stack of the Supabase CLI is running here. Start Docker, then run `supabase start`.\n" +
        "Without Docker, `deno task test` runs the same tests on a stack of its own.",
    );
  }
  const service = readStatus(status.stdout);
  if (!service.API_URL) fail("`supabase status` gives no API_URL.");
  // With Docker, it prints keys only where Auth is enabled.
  return { ...LOCAL_SERVICE, ...service };
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
