/** What `test:supabase` reads, what a deployment sees of `test:remote`, and a checkout on Windows. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { readStatus } from "../../tools/supabase_cli.ts";

const testRemote = (env: Record<string, string>) =>
  run(Deno.execPath(), ["task", "test:remote"], {
    cwd: PROJECT,
    env: { NO_COLOR: "1", SECRET_KEY: "", ...env },
    stdin: "null",
  });

Deno.test("task: test:supabase reads what `supabase status` prints, with Docker and without", () => {
  for (const quote of [`"`, `'`, ""]) {
    const url = `API_URL=${quote}http://127.0.0.1:54321${quote}`;
    const key = `SECRET_KEY=${quote}x=y${quote}`;
    assertEquals(
      readStatus(`Stopped services: []\n${url}\r\n${key}`),
      { API_URL: "http://127.0.0.1:54321", SECRET_KEY: "x=y" },
    );
  }
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

Deno.test("task: Git for Windows leaves line ends as they are", async () => {
  const attributes = await Deno.readTextFile(
    new URL(".gitattributes", PROJECT),
  );
  assertStringIncludes(attributes, "\n* text=auto eol=lf\n");
});
