/**
 * The tasks that test: each finds a service, or starts one, and runs the tests against it.
 *
 *     deno run -A tests/run.ts local|supabase|remote|deploy|docs|browser [arguments of deno test]
 */
import { downloadCli, supabase } from "../tools/supabase_cli.ts";
import { runTests } from "./support/run_tests.ts";
import { LOCAL_SERVICE, type Service } from "../tools/stack/local_service.ts";
import { startStack } from "../tools/stack/stack.ts";

// Black box: any service will do.
const CONTRACT = ["tests/contract"];
// These start what they test themselves.
const LOCAL = ["tests/database", "tests/function", "tests/start"];
const DEPLOY = ["tests/deploy", "tests/tasks"];
const DOCS = ["tests/docs"];
const BROWSER = ["tests/browser"];

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
    case "supabase":
      return await test(CONTRACT, args, await runningSupabase());
    case "remote":
      if (!args.includes("--yes")) {
        fail(
          "These tests write rows of projects of their own to activation_keys, and remove them.\n" +
            "If that is all right: deno task test:remote --yes",
        );
      }
      return await test(
        CONTRACT,
        args.filter((arg) => arg !== "--yes"),
        remoteService(),
      );
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
  return await test(paths, args, stack.service);
}

async function test(
  paths: string[],
  args: string[],
  service?: Service,
): Promise<number> {
  if (service) console.error(`Testing ${service.API_URL} ...`);
  const { code, tests } = await runTests([...args, ...paths], {
    ...service,
    TEST_TARGET: target,
  });
  if (tests > 0 || code !== 0) return code;
  console.error("No test ran. Does a test have the name that --filter gives?");
  return 1;
}

/** The stack of `supabase start`. */
async function runningSupabase(): Promise<Service> {
  console.error("Asking `supabase status` for the address ...");
  const { code, stdout, stderr } = await supabase(["status", "-o", "env"]);
  if (code !== 0) {
    fail(
      `${stderr.trim()}\n\n` +
        "No stack of the Supabase CLI is running here. Start Docker, then run `supabase start`.\n" +
        "Without Docker, `deno task test` runs the same tests on a stack of its own.",
    );
  }
  const status = Object.fromEntries(
    Array.from(
      stdout.matchAll(/^(\w+)="?(.*?)"?\r?$/gm),
      ([, name = "", value = ""]): [string, string] => [name, value],
    ),
  );
  // It prints the address, but keys only where Auth is enabled.
  const service = { ...LOCAL_SERVICE, ...status };
  return pick((name) => service[name], "`supabase status -o env` gives");
}

/** The service that the environment names. */
function remoteService(): Service {
  return pick((name) => Deno.env.get(name), "the environment holds");
}

function pick(
  get: (name: keyof Service) => string | undefined,
  source: string,
): Service {
  const required = (name: keyof Service) =>
    get(name) || fail(
      `${source} no ${name}. Needed are API_URL, PUBLISHABLE_KEY and SECRET_KEY.`,
    );
  return {
    API_URL: required("API_URL").replace(/\/$/, ""),
    PUBLISHABLE_KEY: required("PUBLISHABLE_KEY"),
    SECRET_KEY: required("SECRET_KEY"),
  };
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
