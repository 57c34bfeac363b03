/** What the tasks read and write. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";

/** Runs `test:remote` on what a hosted gateway does. Returns how it ended, and what it requested. */
async function testRemote(variables: Record<string, string>) {
  await using stack = await startStack();
  const paths: string[] = [];
  await using gateway = serveOnLoopback(({ method, headers, body, url }) => {
    const { pathname } = new URL(url);
    paths.push(pathname);
    // A hosted project's gateway responds to other methods itself.
    const passedOn = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
    if (!passedOn.includes(method)) return new Response("", { status: 405 });
    return fetch(stack.service.API_URL + pathname, { method, headers, body });
  });
  const env = { NO_COLOR: "1", API_URL: gateway.url, ...variables };
  const options = { cwd: PROJECT, env };
  const ended = await run(Deno.execPath(), ["task", "test:remote"], options);
  return { ...ended, paths };
}

Deno.test("task: test:remote requests nothing with a secret key, before somebody says that it may write", async () => {
  const variables = { SECRET_KEY: "x", PUBLISHABLE_KEY: "x" };
  const { code, stdout, paths } = await testRemote(variables);
  assertEquals([code, paths], [1, []]);
  assertStringIncludes(stdout, "deno task test:remote -- --yes");
});

Deno.test("task: test:remote without a secret key passes on a hosted platform, and reaches the function alone", async () => {
  const { code, stdout, paths } = await testRemote({
    SECRET_KEY: "",
    ACTIVE_USERNAME: SEEDED.username,
    ACTIVE_PROJECT_ID: SEEDED.project_id,
  });
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "that ACTIVE_USERNAME names → 200 ... ok");
  assert(paths.length > 50, `${paths.length} requests`);
  assertEquals([...new Set(paths)], [FUNCTION_URL_PATH]);
});
