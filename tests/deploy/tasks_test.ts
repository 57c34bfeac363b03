/** What the tasks read, write and leave alone. */
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import {
  FUNCTION_FOLDER,
  FUNCTION_PATH,
  PROJECT,
  SEEDED,
} from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { generateTypes } from "../../tools/types/generate_types.ts";

const CI = fileURLToPath(new URL("tools/ci.ts", PROJECT));
const CONFIG = fileURLToPath(new URL("deno.json", PROJECT));

const testRemote = (env: Record<string, string>) =>
  run(Deno.execPath(), ["task", "test:remote"], {
    cwd: PROJECT,
    env: { NO_COLOR: "1", SECRET_KEY: "", ...env },
    stdin: "null",
  });

Deno.test("task: test:remote writes nothing before somebody says that it may", async () => {
  const { code, stdout } = await testRemote({ ...LOCAL_SERVICE });
  assertEquals(code, 1);
  assertStringIncludes(stdout, "deno task test:remote -- --yes");
});

Deno.test("task: test:remote without SECRET_KEY passes on a hosted platform, and reaches the function alone", async () => {
  await using stack = await startStack();
  const paths: string[] = [];
  // The gateway of a hosted project, as far as methods go.
  await using gateway = serveOnLoopback(({ method, headers, body, url }) => {
    const { pathname, search } = new URL(url);
    paths.push(pathname);
    const passedOn = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
    if (!passedOn.includes(method)) return new Response("", { status: 405 });
    const target = stack.service.API_URL + pathname + search;
    return fetch(target, { method, headers, body });
  });
  const { code, stdout } = await testRemote({
    API_URL: gateway.url,
    ACTIVE_USERNAME: SEEDED.username,
    ACTIVE_PROJECT_ID: SEEDED.project_id,
  });
  assertEquals(code, 0, stdout);
  const named = "request: the user that ACTIVE_USERNAME names → 200 ... ok";
  assertStringIncludes(stdout, named);
  assert(paths.length > 50, `${paths.length} requests`);
  assertEquals(paths.filter((path) => path !== FUNCTION_PATH), []);
});

Deno.test("task: ci runs every task that is named, and counts what passed, failed and was skipped", async () => {
  await using folder = await makeTempFolder();
  const write = (file: string, text: string) =>
    Deno.writeTextFile(new URL(file, folder.url), text);
  const test = (file: string) => `deno test --no-check ${file}_test.ts`;
  const tasks = {
    check: "exit 0",
    types: "exit 1",
    test: test("mixed"),
    "test:file": test("throws"),
  };
  await write("deno.json", JSON.stringify({ tasks }));
  await write("throws_test.ts", "throw new Error();");
  await write(
    "mixed_test.ts",
    `Deno.test("passes", () => {});
     Deno.test("fails", () => { throw new Error(); });
     Deno.test({ name: "é <&>", ignore: true, fn() {} });`,
  );
  const ci = async (tasks: string[]) => {
    const args = ["run", "-A", `--config=${CONFIG}`, CI, ...tasks];
    const options = { cwd: folder.url, env: { NO_COLOR: "1" } };
    const { code, stdout } = await run(Deno.execPath(), args, options);
    return [code, ...stdout.split("\n\n").at(-1)?.split(/\r?\n/) ?? []];
  };
  assertEquals(await ci(["check"]), [0, "1 passed, 0 failed"]);
  assertEquals(await ci(["types", "test:file", "test", "check"]), [
    1,
    "Failed: deno task types",
    "Failed: deno task test:file",
    "Not run, for a reason above: é <&>",
    "Failed: deno task test",
    "2 passed, 3 failed, 1 skipped",
  ]);
});

Deno.test("task: types would change nothing of database.types.ts", async () => {
  const file = new URL("database.types.ts", FUNCTION_FOLDER);
  assertEquals(await Deno.readTextFile(file), await generateTypes());
});
