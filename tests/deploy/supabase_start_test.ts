/**
 * `deno task test:supabase`, with the Supabase CLI's own `status`. A stand-in for `docker` says
 * whether the containers run, and the local stack serves where `supabase start` would. For the stack
 * without Docker, which cannot be downloaded everywhere, a stand-in for `npx` prints what its
 * `status` was seen to print.
 */
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { type Stack, startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import {
  copyBroken,
  copyProject,
  type ProjectCopy,
} from "../support/project_copy.ts";
import { assertTask } from "../support/run_task.ts";

const RUNNING = `
  const asked = process.argv.slice(2).join(" ");
  if (asked.includes("inspect")) {
    console.log('{"Status":"running","Running":true,"Health":{"Status":"healthy"}}');
  } else if (asked.includes("ps")) {
    for (const service of ["db", "kong", "rest", "edge_runtime"]) {
      console.log("supabase_" + service + "_check-username-active");
    }
  }`;
const STOPPED = `
  console.error("Error: No such container: supabase_db_check-username-active");
  process.exit(1);`;

/** Puts a program first on the PATH: a script for Node. */
async function standIn(
  program: string,
  script: string,
): Promise<AsyncDisposable & { env: { PATH: string } }> {
  const folder = await makeTempFolder();
  const write = (name: string, text: string) =>
    Deno.writeTextFile(new URL(name, folder.url), text, { mode: 0o755 });
  await write(program, `#!/usr/bin/env node\n${script}`);
  // Windows knows a program by its ending.
  await write(`${program}.cmd`, `@node "%~dp0${program}" %*\r\n`);
  const PATH = fileURLToPath(folder.url) + delimiter + Deno.env.get("PATH");
  return { ...folder, env: { PATH } };
}

/** A copy of the project with the port of a stack, because 54321 may be taken. */
async function copyFor({ service }: Stack): Promise<ProjectCopy> {
  const copy = await copyProject();
  const { port } = new URL(service.API_URL);
  // A section may stand in the file only once.
  await copy.edit(
    "supabase/config.toml",
    /\n\[api\]\n(port = \d+\n)?|$/,
    `\n[api]\nport = ${port}\n`,
  );
  return copy;
}

Deno.test("test:supabase: it passes on a sound stack of Docker, at the address that `supabase status` prints", async () => {
  await using docker = await standIn("docker", RUNNING);
  await using stack = await startStack();
  await using copy = await copyFor(stack);
  const says = `Testing ${stack.service.API_URL} ...`;
  await assertTask(["test:supabase"], 0, says, docker.env, copy.url);
});

Deno.test("test:supabase: it fails on a function that answers 404 for 499", async () => {
  await using docker = await standIn("docker", RUNNING);
  await using broken = await copyBroken();
  await using stack = await startStack(broken);
  await using copy = await copyFor(stack);
  const task = ["test:supabase", "--filter=request: another user"];
  await assertTask(task, 1, "FAILED", docker.env, copy.url);
});

Deno.test("test:supabase: it says that `supabase start` is missing", async () => {
  await using docker = await standIn("docker", STOPPED);
  const says = "Start Docker, then run `supabase start`.";
  await assertTask(["test:supabase"], 1, says, docker.env);
});

/** `npx supabase@… status` while the stack without Docker runs at an address, or does not run. */
const withoutDocker = (url?: string) => `
  const flags = process.argv.slice(process.argv.indexOf("status") + 1).join(" ");
  if (flags !== "--env") {
    console.error("The legacy -o/--output flag is not supported here; use --output-format json.");
    process.exit(1);
  }
  if (!${Boolean(url)}) {
    console.error("No managed stack exists for the selected project.");
    process.exit(1);
  }
  console.log("API_URL='${url}'");
  console.log("PUBLISHABLE_KEY='${LOCAL_SERVICE.PUBLISHABLE_KEY}'");
  console.log("SECRET_KEY='${LOCAL_SERVICE.SECRET_KEY}'");`;

Deno.test("test:supabase: it passes on a stack without Docker, whose `status` has another flag", async () => {
  await using stack = await startStack();
  const { API_URL } = stack.service;
  await using npx = await standIn("npx", withoutDocker(API_URL));
  const says = `Testing ${API_URL} ...`;
  await assertTask(["test:supabase"], 0, says, npx.env);
});

Deno.test("test:supabase: it says that a stack without Docker is missing", async () => {
  await using npx = await standIn("npx", withoutDocker());
  const says = "No managed stack exists";
  await assertTask(["test:supabase"], 1, says, npx.env);
});
