/** `deno task test:remote`, on what a hosted platform does. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";

Deno.test("task: test:remote passes on a hosted platform, and reaches the function alone", async () => {
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
  const env = {
    NO_COLOR: "1",
    API_URL: gateway.url,
    ACTIVE_USERNAME: SEEDED.username,
    ACTIVE_PROJECT_ID: SEEDED.project_id,
  };
  const options = { cwd: PROJECT, env };
  const task = await run(Deno.execPath(), ["task", "test:remote"], options);
  assertEquals(task.code, 0, task.stdout);
  assertStringIncludes(task.stdout, "that ACTIVE_USERNAME names → 200 ... ok");
  assert(paths.length > 50, `${paths.length} requests`);
  assertEquals([...new Set(paths)], [FUNCTION_URL_PATH]);
});
