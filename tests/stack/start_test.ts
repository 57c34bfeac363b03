/** `deno task start`, as a person runs it in a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { FUNCTION_FOLDER_PATH, SEEDED } from "../../tools/project.ts";
import { NOT_FOUND } from "../support/contract.ts";
import { runLine, waitUntil, waitUntilGone } from "../support/processes.ts";
import { copyProject } from "../support/project_copy.ts";
import { check } from "../support/requests.ts";

/** Runs it in a copy of the project. Disposing of it kills it. */
function runStart(cwd: URL, ...args: string[]) {
  const env = { ...process.env, NO_COLOR: "1" };
  const all = ["task", "--quiet", "start", ...args];
  const child = spawn(Deno.execPath(), all, { cwd, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => output += text);
  }
  // The streams end with the last process that it has started.
  const ended = once(child, "close");
  return {
    child,
    /** How it has ended, with all that it has started. */
    ended,
    output: () => output,
    waitFor: (text: string) =>
      waitUntil(() => output.includes(text), () => output),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

Deno.test("start: its lines work, an edit is served, a mistake is shown, and nothing is left running", async () => {
  await using project = await copyProject();
  await using start = runStart(project.url, "--port=0");
  await start.waitFor("last until Ctrl-C");
  const lines = start.output().match(/^curl .*/gm) ?? [];
  const statuses = [];
  for (const line of lines) statuses.push((await runLine(line)).stdout);
  assertEquals(statuses.length, 2);
  assertStringIncludes(statuses[0] ?? "", "HTTP/1.1 200 OK");
  assertStringIncludes(statuses[1] ?? "", "HTTP/1.1 201 Created");

  const url = lines[0]?.match(/http\S+/)?.[0] ?? "";
  const file = new URL(`${FUNCTION_FOLDER_PATH}responses.ts`, project.url);
  const code = await Deno.readTextFile(file);
  const save = async (
    code: string,
    holds: () => boolean | Promise<boolean>,
  ) => {
    let tries = 0;
    await waitUntil(() => {
      // Again every five seconds: Deno's watcher misses an edit while it starts the function.
      if (tries++ % 100 === 0) Deno.writeTextFileSync(file, code);
      return holds();
    }, start.output);
  };
  const serves = (status: number, text: string) => async () => {
    const response = await check(SEEDED.project_id, "nobody", url);
    const body = await response.text();
    return response.status === status && body.includes(text);
  };
  const prints = (text: string) => () => start.output().includes(text);
  const { status, body: { error } } = NOT_FOUND;
  await save(code.replace(error, "EDITED"), serves(status, "EDITED"));
  await save(`${code}const mistake = ;`, prints("const mistake = ;"));
  await waitUntil(serves(503, "Look at the terminal"), start.output);
  await save(code, serves(status, error));

  const hangs = 'console.log("hangs", Deno.pid); for (;;);';
  await save(`${code}${hangs}`, prints("hangs "));
  const pid = Number(start.output().match(/hangs (\d+)/)?.[1]);
  start.child.kill(Deno.build.os === "windows" ? "SIGKILL" : "SIGINT");
  await start.ended;
  await waitUntilGone(pid);
});

Deno.test("start: says what is wrong with an argument, the port, the seed or the function", async () => {
  await using project = await copyProject();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const usage = "Usage: deno task start";
  const seed = "supabase/seed.sql";
  const starts: [args: string, ...says: string[]][] = [
    ["--prot=54400", usage],
    ["--port=0x10", usage],
    [`--port=${port}`, `Port ${port} cannot be taken`, "--port 8321"],
    ["--port=0", "const mistake = ;", "The edge function does not start"],
    ["--port=0", `PostgreSQL rejects ${seed}, line `],
  ];
  for (const [args, ...says] of starts) {
    if (says[0]?.includes("mistake")) {
      await project.edit(
        `${FUNCTION_FOLDER_PATH}index.ts`,
        /$/,
        "const mistake = ;",
      );
    }
    if (says[0]?.includes(seed)) {
      await project.edit(seed, "6f3b1d52", "no UUID");
    }
    await using start = runStart(project.url, args);
    assertEquals((await start.ended)[0], 1, start.output());
    for (const text of says) assertStringIncludes(start.output(), text);
  }
  listener.close();
});
