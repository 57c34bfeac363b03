/** Exit codes of the test tasks. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
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
import { runTask } from "../support/run_task.ts";

const TESTS = {
  "passes_test.ts": `Deno.test("temporary", () => {});`,
  "fails_test.ts":
    `Deno.test("temporary", () => { throw new Error("on purpose"); });`,
};

/** Runs a task with one temporary test, and without its own. */
async function runWith(
  file: keyof typeof TESTS,
  args: string[],
  env?: Record<string, string>,
) {
  await using folder = await makeTempFolder();
  const test = new URL(file, folder.url);
  await Deno.writeTextFile(test, TESTS[file]);
  return await runTask(
    [...args, "--filter=temporary", fileURLToPath(test)],
    env,
  );
}

for (const task of ["test", "test:docs", "test:browser", "test:deploy"]) {
  Deno.test(`task: ${task} exits with 0 when its tests pass, and with 1 when one fails`, async () => {
    const [passing, failing] = await Promise.all([
      runWith("passes_test.ts", [task]),
      runWith("fails_test.ts", [task]),
    ]);
    assertEquals(passing.code, 0, passing.output);
    assertEquals(failing.code, 1, failing.output);
  });
}

Deno.test("task: test exits with 1 when no test ran", async () => {
  const { code, output } = await runTask(["test", "--filter=no such test"]);
  assertEquals(code, 1, output);
  assertStringIncludes(output, "No test ran");
});

Deno.test("task: test exits with 1 when the function does not start", async () => {
  await using copy = await copyProject();
  const index = `${FUNCTION_FOLDER_PATH}index.ts`;
  await copy.edit(index, /^/, `throw new Error("on purpose");\n`);
  const { code, output } = await runTask(
    ["test", "--filter=table"],
    {},
    copy.url,
  );
  assertEquals(code, 1, output);
  assertStringIncludes(output, "on purpose");
});

Deno.test("task: test exits with 1 when the function answers 404 for 499", async () => {
  await using broken = await copyBroken();
  const { code, output } = await runTask(
    ["test", "--filter=request: another user"],
    {},
    broken.url,
  );
  assertEquals(code, 1, output);
  assertStringIncludes(output, "FAILED");
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

  const sound = await runTask([...task, "--filter=request:"], env);
  assertEquals(sound.code, 0, sound.output);
  assertStringIncludes(sound.output, "2 tests are left out (HEAD, PROPFIND)");

  const failing = await runWith("fails_test.ts", task, env);
  assertEquals(failing.code, 1, failing.output);
  const nothing = await runTask([...task, "--filter=no such test"], env);
  assertEquals(nothing.code, 1, nothing.output);

  const unasked = await runTask(["test:remote"], env);
  assertEquals(unasked.code, 1, unasked.output);
  assertStringIncludes(unasked.output, "deno task test:remote --yes");
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
    const sound = await runTask(["test:remote"], { ...env, ...names });
    assertEquals(sound.code, 0, sound.output);
    const [, leftOut] = sound.output
      .match(/(\d+) tests were left out: they issue keys/) ?? [];
    assert(Number(leftOut) > 100, sound.output);
    assertEquals(sound.output.includes(named), names === seeded);
  }
  const paths = gateway.requests.map((request) => request.split(" ")[1]);
  assert(paths.length > 150, `${paths.length} requests`);
  assertEquals(paths.filter((path) => path !== FUNCTION_PATH), []);

  const gone = { ...env, ...seeded, ACTIVE_USERNAME: "nobody" };
  const unknown = await runTask(
    ["test:remote", "--filter=ACTIVE_USERNAME"],
    gone,
  );
  assertEquals(unknown.code, 1, unknown.output);
});

Deno.test("task: test:remote without the secret key fails on a broken function", async () => {
  await using broken = await copyBroken();
  await using stack = await startStack(broken);
  const { API_URL } = stack.service;
  const env = { API_URL, SECRET_KEY: "" };
  const { code, output } = await runTask(["test:remote"], env);
  assertEquals(code, 1, output);
  assertStringIncludes(
    output,
    `request: another user → ${NOT_FOUND.status} ... FAILED`,
  );
});
