/** `deno task start`, as a person runs it in a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { copyToTempFolder } from "../../tools/temp_folder.ts";
import { NOT_FOUND } from "../support/contract.ts";
import { type Condition, runLine, waitUntil } from "../support/processes.ts";
import { checkAt } from "../support/requests.ts";

/** Runs `deno task start` in a folder. Disposing of the result kills it. */
function runStart(cwd: URL, ...args: string[]) {
  const env = { ...process.env, NO_COLOR: "1" };
  const all = ["task", "--quiet", "start", ...args];
  const child = spawn(Deno.execPath(), all, { cwd, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => output += text);
  }
  const ended = once(child, "close");
  return {
    child,
    /** Resolves when `start` has ended. The function is another process, and may end later. */
    ended,
    output: () => output,
    hasPrinted: (text: string) => () => output.includes(text),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Tells whether a process runs: signal 0 does nothing to it. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

Deno.test("start: its curl lines work, edits are served, and nothing is left running", async () => {
  await using project = await copyToTempFolder(PROJECT);
  const file = new URL(`${FUNCTION_FOLDER_PATH}responses.ts`, project.url);
  const code = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, `${code}throw new Error("MISTAKE");`);
  await using start = runStart(project.url, "--port=0");
  const { output, hasPrinted } = start;
  const save = (text: string, holds: Condition) => {
    const write = () => Deno.writeTextFileSync(file, text);
    write();
    // Every 5 s, again: Deno's watcher misses an edit while it starts the function.
    const again = setInterval(write, 5_000);
    return waitUntil(holds, output).finally(() => clearInterval(again));
  };
  await waitUntil(hasPrinted("MISTAKE"), output);
  await save(code, hasPrinted("last until Ctrl-C"));
  const [ask = "", add = ""] = output().match(/^curl .*/gm) ?? [];
  assertStringIncludes((await runLine(ask)).stdout, "HTTP/1.1 200 OK");
  assertStringIncludes((await runLine(add)).stdout, "HTTP/1.1 201 Created");

  const url = ask.match(/http\S+/)?.[0] ?? "";
  const serves = (status: number, text: string) => async () => {
    const response = await checkAt(url, SEEDED.project_id, "nobody");
    const body = await response.text();
    return response.status === status && body.includes(text);
  };
  const { status, body: { error } } = NOT_FOUND;
  await save(code.replace(error, "EDITED"), serves(status, "EDITED"));
  await save(`${code}const mistake = ;`, hasPrinted("const mistake = ;"));
  await waitUntil(serves(503, "Look at the terminal"), output);
  await save(code, serves(status, error));

  // This runs in the function's process, and prints its id.
  const hangs = "console.log(`hangs: ${Deno.pid}.`); for (;;);";
  await save(code + hangs, () => /hangs: \d+\./.test(output()));
  const pid = Number(output().match(/hangs: (\d+)/)?.[1]);
  // Windows sends no SIGINT: there, `start` ends because its parent is gone.
  start.child.kill(Deno.build.os === "windows" ? "SIGKILL" : "SIGINT");
  await start.ended;
  await waitUntil(() => !isRunning(pid), () => `${pid} still runs`);
});

Deno.test("start: names a wrong argument, port, seed or function", async () => {
  await using project = await copyToTempFolder(PROJECT);
  const write = (path: string, text: string) =>
    Deno.writeTextFile(new URL(path, project.url), text);
  const assertSays = async (arg: string, ...says: string[]) => {
    await using start = runStart(project.url, arg);
    assertEquals((await start.ended)[0], 1, start.output());
    for (const text of says) assertStringIncludes(start.output(), text);
  };

  await assertSays("--prot=54400", "Usage: deno task start");
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const says = `Port ${port} cannot be taken`;
  await assertSays(`--port=${port}`, says, "--port 8321");
  await write("supabase/seed.sql", "select 1;\nselect no;");
  await assertSays("--port=0", "PostgreSQL rejects supabase/seed.sql: ");
  await write("supabase/seed.sql", "");
  const mistake = "const mistake = ;";
  await write(`${FUNCTION_FOLDER_PATH}index.ts`, mistake);
  await assertSays("--port=0", mistake, "The edge function does not start");
});
