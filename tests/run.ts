/**
 * The tasks that test: each finds a service, or starts one, and runs the tests against it.
 *
 *     deno run -A tests/run.ts local|load|supabase|remote|deploy|docs|browser [arguments of deno test]
 */
import { PROJECT } from "../tools/project.ts";
import { readStatus, supabase } from "../tools/supabase_cli.ts";
import { LOCAL_SERVICE, type Service } from "../tools/stack/local_service.ts";
import { startStack } from "../tools/stack/stack.ts";

// Black box: any service will do. The other tests start what they test themselves.
const CONTRACT = ["tests/contract"];
const BROWSER = ["tests/docs/browser_test.ts"];

const target = Deno.args[0] ?? "";
const args = Deno.args.slice(1).filter((arg) => arg !== "--yes");
// Said outright, and last: `PGlite.close()` sets the process's exit code to 0.
Deno.exit(await run());

/** Runs the target's tests and returns the exit code. */
async function run(): Promise<number> {
  switch (target) {
    case "local":
      return await testLocally([...CONTRACT, "tests/function", "tests/stack"]);
    case "docs":
      return await testLocally(["tests/docs", `--ignore=${BROWSER}`]);
    case "browser":
      return await testLocally(BROWSER);
    case "load":
      return await test(["tests/load"]);
    case "supabase":
      return await test(CONTRACT, await runningSupabase());
    case "remote":
      return await test(CONTRACT, remoteService());
    case "deploy":
      return await test(["tests/deploy"]);
    default:
      fail(`There is no such target: "${target}"`);
  }
}

async function testLocally(paths: string[]): Promise<number> {
  console.error("Starting the local stack ...");
  await using stack = await startStack();
  return await test(["--parallel", ...paths], stack.service);
}

async function test(
  paths: string[],
  service?: Partial<Service>,
): Promise<number> {
  if (service) console.error(`Testing ${service.API_URL} ...`);
  const showsColours = Deno.stdout.isTerminal() && !Deno.noColor;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", ...args, ...paths],
    cwd: PROJECT,
    env: {
      // With --parallel: one more than there are processors, because many tests wait.
      DENO_JOBS: Deno.env.get("DENO_JOBS") ??
        `${navigator.hardwareConcurrency + 1}`,
      ...showsColours && { FORCE_COLOR: "1" },
      ...service,
      TEST_TARGET: target,
    },
    stdout: "piped",
  }).spawn();
  const [shown, read] = child.stdout.tee();
  const [{ code }, printed] = await Promise.all([
    child.status,
    new Response(read).text(),
    shown.pipeTo(Deno.stdout.writable, { preventClose: true }),
  ]);
  if (service && !service.SECRET_KEY) {
    console.error("Tests that issue keys were ignored: they need SECRET_KEY.");
  }
  // What `deno test` does not take for a failure, such as a --filter that no test has in its name.
  if (code !== 0 || !/\| 0 passed[^|]*\| 0 failed/.test(printed)) return code;
  console.error("No test ran. Does a test have the name that --filter gives?");
  return 1;
}

/** The deployment that `API_URL` names. Without its secret key, nothing is written. */
function remoteService(): Partial<Service> {
  const API_URL = Deno.env.get("API_URL")?.replace(/\/$/, "") ||
    fail("Name the service to test in the variable API_URL.");
  const SECRET_KEY = Deno.env.get("SECRET_KEY");
  if (!SECRET_KEY) return { API_URL };

  const PUBLISHABLE_KEY = Deno.env.get("PUBLISHABLE_KEY") ||
    fail("With SECRET_KEY, these tests need PUBLISHABLE_KEY as well.");
  if (Deno.args.includes("--yes")) {
    return { API_URL, PUBLISHABLE_KEY, SECRET_KEY };
  }
  fail(
    "With SECRET_KEY, these tests write rows of products of their own to activation_keys, and " +
      "remove them.\nIf that is all right: deno task test:remote --yes. Without SECRET_KEY, they " +
      "write nothing.",
  );
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
