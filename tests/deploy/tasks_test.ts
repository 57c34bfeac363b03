/** What the tasks read, write and leave alone, and how `ci` counts. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { generateTypes, TYPES_FILE } from "../../tools/types/generate_types.ts";

const testRemote = (variables: Record<string, string>) => {
  const env = { NO_COLOR: "1", SECRET_KEY: "", ...variables };
  return run(Deno.execPath(), ["task", "test:remote"], { cwd: PROJECT, env });
};

Deno.test("task: test:remote writes nothing before somebody says that it may", async () => {
  const { code, stdout } = await testRemote({ ...LOCAL_SERVICE });
  assertEquals(code, 1);
  assertStringIncludes(stdout, "deno task test:remote -- --yes");
});

Deno.test("task: test:remote without SECRET_KEY passes on a hosted platform, and reaches the function alone", async () => {
  await using stack = await startStack();
  const paths: string[] = [];
  // A hosted project's gateway responds to other methods itself.
  await using gateway = serveOnLoopback(({ method, headers, body, url }) => {
    const { pathname } = new URL(url);
    paths.push(pathname);
    const passedOn = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
    if (!passedOn.includes(method)) return new Response("", { status: 405 });
    return fetch(stack.service.API_URL + pathname, { method, headers, body });
  });
  const { code, stdout } = await testRemote({
    API_URL: gateway.url,
    ACTIVE_USERNAME: SEEDED.username,
    ACTIVE_PROJECT_ID: SEEDED.project_id,
  });
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "that ACTIVE_USERNAME names → 200 ... ok");
  assert(paths.length > 50, `${paths.length} requests`);
  assertEquals([...new Set(paths)], [FUNCTION_URL_PATH]);
});

Deno.test("task: ci goes on after a failure, and counts what passed, failed and was skipped", async () => {
  await using folder = await makeTempFolder({
    "deno.json": `{ "tasks": { "check": "exit 0", "types": "exit 1",
      "test": "deno test tests.ts", "test:load": "deno test throws.ts" } }`,
    "throws.ts": "throw new Error();",
    "tests.ts": `Deno.test("passes", () => {});
      Deno.test("fails", () => { throw new Error(); });
      Deno.test({ name: "é <&>", ignore: true, fn: () => {} });
      Deno.test("late", () => new Promise(() => setTimeout(() => { throw 0; })));
      Deno.test("cancelled", () => {});`,
  });
  const ci = async (...tasks: string[]) => {
    const args = ["run", "-A", `${PROJECT}tools/ci.ts`, ...tasks];
    const options = { cwd: folder.url };
    const { code, stdout } = await run(Deno.execPath(), args, options);
    return [code, ...stdout.split(/\r?\n/).slice(-6)];
  };
  const [code, ...sound] = await ci("check");
  assertEquals([code, sound.at(-1)], [0, "1 passed, 0 failed"]);
  assertEquals(await ci("types", "test:load", "test", "check"), [
    1,
    "",
    "Failed: deno task types",
    "Failed: deno task test:load",
    "Not run: é <&>",
    "Failed: deno task test",
    "2 passed, 5 failed, 1 skipped",
  ]);
});

Deno.test("task: types would change nothing of database.types.ts", async () => {
  assertEquals(await Deno.readTextFile(TYPES_FILE), await generateTypes());
});
