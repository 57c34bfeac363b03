/**
 * The tasks that test: each finds a service, or starts one, and runs the tests against it.
 *
 *     deno run -A tests/run.ts local|supabase|remote|deploy|docs|browser [arguments of deno test]
 */
import { downloadCli, supabase } from "./deploy/cli.ts";
import { runTests } from "./run_tests.ts";
import { type Service, startStack } from "./stack/stack.ts";

// Black box: any service will do.
const CONTRACT = ["tests/contract"];
// These start what they test themselves.
const LOCAL = ["tests/database", "tests/function", "tests/stack"];
const DEPLOY = ["tests/deploy"];
const DOCS = ["tests/docs"];
const BROWSER = ["tests/browser"];

const [target, ...args] = Deno.args;
switch (target) {
  case "local":
    await testLocally([...CONTRACT, ...LOCAL]);
    break;
  case "docs":
    await testLocally(DOCS);
    break;
  case "browser":
    await testLocally(BROWSER);
    break;
  case "supabase":
    await test(CONTRACT, args, await runningSupabase());
    break;
  case "remote":
    if (!args.includes("--yes")) {
      fail(
        "These tests write rows of projects of their own to activation_keys, and remove them.\n" +
          "If that is all right: deno task test:remote --yes",
      );
    }
    await test(CONTRACT, args.filter((arg) => arg !== "--yes"), named());
    break;
  case "deploy":
    await downloadCli();
    await test(DEPLOY, args);
    break;
  default:
    fail(`There is no such target: ${target}`);
}

async function testLocally(paths: string[]): Promise<void> {
  console.error("Starting the local stack ...");
  await using stack = await startStack();
  await test(paths, args, stack.service);
}

async function test(
  paths: string[],
  args: string[],
  service?: Service,
): Promise<void> {
  if (service) console.error(`Testing ${service.API_URL} ...`);
  Deno.exitCode = await runTests([...args, ...paths], service).spawn().status
    .then(({ code }) => code);
}

/** The stack of `supabase start`. */
async function runningSupabase(): Promise<Service> {
  console.error("Asking `supabase status` for addresses and keys ...");
  const { code, stdout, stderr } = await supabase(["status", "-o", "env"]);
  if (code !== 0) {
    fail(
      `${stderr.trim()}\n\n` +
        "There is no running stack of the Supabase CLI. Start Docker, then `supabase start` and\n" +
        "`supabase functions serve`. Without Docker, `deno task test` tests the same.",
    );
  }
  const values = Object.fromEntries(
    Array.from(
      stdout.matchAll(/^(\w+)="?(.*?)"?\r?$/gm),
      ([, name, value]) => [name, value],
    ),
  );
  return pick((name) => values[name], "`supabase status -o env` gives");
}

/** The service that the environment names. */
function named(): Service {
  return pick((name) => Deno.env.get(name), "the environment holds");
}

function pick(
  get: (name: string) => string | undefined,
  source: string,
): Service {
  const required = (name: string) =>
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
