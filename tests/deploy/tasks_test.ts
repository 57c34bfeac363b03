/** Exit codes of the test tasks. */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { serveOnLoopback } from "../../tools/loopback.ts";
import {
  FUNCTION_FOLDER_PATH,
  FUNCTION_PATH,
  SEEDED,
} from "../../tools/project.ts";
import { NOT_FOUND } from "../support/answers.ts";
import { copyBroken, copyProject } from "../support/project_copy.ts";
import { type Stack, startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { assertTask } from "../support/run_task.ts";

const PASSES = `Deno.test("temporary", () => {});`;
const FAILS =
  `Deno.test("temporary", () => { throw new Error("on purpose"); });`;

/** Runs a task with one temporary test, and without its own. */
async function assertTaskWith(
  test: string,
  args: string[],
  code: number,
  env?: Record<string, string>,
) {
  await using folder = await makeTempFolder();
  const file = new URL("temporary_test.ts", folder.url);
  await Deno.writeTextFile(file, test);
  const only = ["--filter=temporary", fileURLToPath(file)];
  await assertTask([...args, ...only], code, "temporary ...", env);
}

for (const task of ["test", "test:docs", "test:browser", "test:deploy"]) {
  Deno.test(`task: ${task} exits with 0 when its tests pass, and with 1 when one fails`, async () => {
    await Promise.all([
      assertTaskWith(PASSES, [task], 0),
      assertTaskWith(FAILS, [task], 1),
    ]);
  });
}

Deno.test("task: test exits with 1 when no test ran", async () => {
  await assertTask(["test", "--filter=no such test"], 1, "No test ran");
});

Deno.test("task: test exits with 1 when the function does not start", async () => {
  await using copy = await copyProject();
  const index = `${FUNCTION_FOLDER_PATH}index.ts`;
  await copy.edit(index, /^/, `throw new Error("on purpose");\n`);
  await assertTask(["test", "--filter=table"], 1, "on purpose", {}, copy.url);
});

Deno.test("task: test exits with 1 when the function answers 404 for 499", async () => {
  await using broken = await copyBroken();
  const task = ["test", "--filter=request: another user"];
  await assertTask(task, 1, "FAILED", {}, broken.url);
});

/** A hosted project's gateway in front of a stack, as far as methods go. It remembers requests. */
function startHostedGateway(stack: Stack) {
  const requests: string[] = [];
  const server = serveOnLoopback(({ method, headers, body, url }) => {
    const { pathname, search } = new URL(url);
    requests.push(`${method} ${pathname}`);
    const passedOn = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
    if (pathname === FUNCTION_PATH && !passedOn.includes(method)) {
      return new Response("Method Not Allowed", { status: 405 });
    }
    const target = stack.service.API_URL + pathname + search;
    return fetch(target, { method, headers, body });
  });
  return { ...server, requests };
}

Deno.test("task: test:remote passes on a platform that answers some methods itself, and says what it left out", async () => {
  await using stack = await startStack();
  await using gateway = startHostedGateway(stack);
  const env = { ...stack.service, API_URL: gateway.url };
  const task = ["test:remote", "--yes"];

  const leftOut = "2 tests are left out (HEAD, PROPFIND)";
  await assertTask([...task, "--filter=request:"], 0, leftOut, env);
  await assertTaskWith(FAILS, task, 1, env);
  await assertTask([...task, "--filter=no such test"], 1, "No test ran", env);
  await assertTask(["test:remote"], 1, "deno task test:remote --yes", env);
});

Deno.test("task: test:remote without the secret key reaches the function alone, and says what it left out", async () => {
  await using stack = await startStack();
  await using gateway = startHostedGateway(stack);
  const seeded = {
    ACTIVE_USERNAME: SEEDED.username,
    ACTIVE_PROJECT_ID: SEEDED.project_id,
  };
  const named = "request: the user that ACTIVE_USERNAME names → 200";
  const env = { API_URL: gateway.url, SECRET_KEY: "" };
  for (const names of [{}, seeded]) {
    const says = "tests were left out: they issue keys";
    const given = { ...env, ...names };
    const output = await assertTask(["test:remote"], 0, says, given);
    const [, leftOut] = output.match(/(\d+) tests were left out/) ?? [];
    assert(Number(leftOut) > 100, output);
    assertEquals(output.includes(named), names === seeded);
  }
  const paths = gateway.requests.map((request) => request.split(" ")[1]);
  assert(paths.length > 150, `${paths.length} requests`);
  assertEquals(paths.filter((path) => path !== FUNCTION_PATH), []);

  const gone = { ...env, ...seeded, ACTIVE_USERNAME: "nobody" };
  const task = ["test:remote", "--filter=ACTIVE_USERNAME"];
  await assertTask(task, 1, "FAILED", gone);
});

Deno.test("task: test:remote without the secret key fails on a broken function", async () => {
  await using broken = await copyBroken();
  await using stack = await startStack(broken);
  const { API_URL } = stack.service;
  const env = { API_URL, SECRET_KEY: "" };
  const failed = `request: another user → ${NOT_FOUND.status} ... FAILED`;
  await assertTask(["test:remote"], 1, failed, env);
});
