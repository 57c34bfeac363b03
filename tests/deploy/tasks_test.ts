/** The tasks, as processes: their exit codes, and what a deployment sees of them. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import {
  FUNCTION_FOLDER_PATH,
  FUNCTION_PATH,
  PROJECT,
  SEEDED,
} from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { readStatus } from "../../tools/supabase_cli.ts";
import { copyProject } from "../support/project_copy.ts";

/** Runs a task, which has to end with this exit code and to print this text. */
async function assertTask(
  task: string,
  expected: number,
  says: string,
  { env = {}, cwd = PROJECT }: { env?: Record<string, string>; cwd?: URL } = {},
): Promise<void> {
  const { code, stdout, stderr } = await run(
    Deno.execPath(),
    ["task", ...task.split(" ")],
    { cwd, env: { NO_COLOR: "1", ...env }, stdin: "null" },
  );
  const output = `${stderr}\n${stdout}`;
  assertEquals(code, expected, output);
  assertStringIncludes(output, says);
}

Deno.test("task: it exits with 1 when a test fails, when none runs, and when something does not start", async () => {
  await using copy = await copyProject();
  const test = async (body: string) => {
    const file = new URL(`${crypto.randomUUID()}_test.ts`, copy.url);
    await Deno.writeTextFile(file, `Deno.test("temporary", () => {${body}});`);
    return `test:docs --filter=temporary ${fileURLToPath(file)}`;
  };
  const fails = `throw new Error("on purpose");`;
  await assertTask(await test(""), 0, "| 1 passed");
  await assertTask(await test(fails), 1, "on purpose");

  await copy.edit(`${FUNCTION_FOLDER_PATH}index.ts`, /^/, fails);
  const noStart = "The edge function does not start";
  await assertTask("test", 1, noStart, { cwd: copy.url });
  const noDocker = { env: { DOCKER_HOST: "tcp://127.0.0.1:9" } };
  await assertTask("test:supabase", 1, "Start Docker, then run", noDocker);
  const local = { env: { ...LOCAL_SERVICE } };
  const remote = "test:remote --yes";
  await assertTask("test:remote", 1, `deno task ${remote}`, local);
  await assertTask(`${remote} --filter=no-such-name`, 1, "No test ran", local);
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

Deno.test("task: test:remote without SECRET_KEY passes on a hosted platform, and reaches the function alone", async () => {
  await using stack = await startStack();
  const paths: string[] = [];
  // The gateway of a hosted project, as far as methods go.
  await using gateway = serveOnLoopback(({ method, headers, body, url }) => {
    const { pathname, search } = new URL(url);
    paths.push(pathname);
    const passedOn = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
    if (!passedOn.includes(method)) {
      return new Response("Method Not Allowed", { status: 405 });
    }
    const target = stack.service.API_URL + pathname + search;
    return fetch(target, { method, headers, body });
  });
  const named = "request: the user that ACTIVE_USERNAME names → 200 ... ok";
  await assertTask("test:remote", 0, named, {
    env: {
      API_URL: gateway.url,
      SECRET_KEY: "",
      ACTIVE_USERNAME: SEEDED.username,
      ACTIVE_PROJECT_ID: SEEDED.project_id,
    },
  });
  assert(paths.length > 50, `${paths.length} requests`);
  assertEquals(paths.filter((path) => path !== FUNCTION_PATH), []);
});

Deno.test("task: Git for Windows leaves line ends as they are", async () => {
  const attributes = await Deno.readTextFile(
    new URL(".gitattributes", PROJECT),
  );
  assertStringIncludes(attributes, "\n* text=auto eol=lf\n");
});
