/** Exit codes of the test tasks. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { FUNCTION_PATH } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
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
    { env },
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
  const { code, output } = await runTask(["test", "--filter=table"], {
    change: { "index.ts": [/^/, `throw new Error("on purpose");\n`] },
  });
  assertEquals(code, 1, output);
  assertStringIncludes(output, "on purpose");
});

Deno.test("task: test exits with 1 when the function answers 404 for 499", async () => {
  const { code, output } = await runTask(
    ["test", "--filter=request: another user"],
    { change: { "responses.ts": [/499/, "404"] } },
  );
  assertEquals(code, 1, output);
  assertStringIncludes(output, "FAILED");
});

Deno.test("task: test:remote passes on a platform that answers some methods itself, and says what it left out", async () => {
  await using stack = await startStack();
  // A hosted project's gateway, as far as methods go.
  await using gateway = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      const { method, headers, body } = request;
      const { pathname, search } = new URL(request.url);
      const passedOn = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
      if (pathname === FUNCTION_PATH && !passedOn.includes(method)) {
        return new Response("Method Not Allowed", { status: 405 });
      }
      return fetch(stack.service.API_URL + pathname + search, {
        method,
        headers,
        body,
      });
    },
  );
  const env = {
    ...stack.service,
    API_URL: `http://127.0.0.1:${gateway.addr.port}`,
  };
  const task = ["test:remote", "--yes"];

  const sound = await runTask([...task, "--filter=request:"], { env });
  assertEquals(sound.code, 0, sound.output);
  assertStringIncludes(sound.output, "2 tests are left out (HEAD, PROPFIND)");

  const failing = await runWith("fails_test.ts", task, env);
  assertEquals(failing.code, 1, failing.output);
  const nothing = await runTask([...task, "--filter=no such test"], { env });
  assertEquals(nothing.code, 1, nothing.output);

  const unasked = await runTask(["test:remote"], { env });
  assertEquals(unasked.code, 1, unasked.output);
  assertStringIncludes(unasked.output, "deno task test:remote --yes");
});
