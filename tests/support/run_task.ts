import { assertNotEquals } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { run } from "../../tools/run.ts";
import { NOT_FOUND } from "./answers.ts";
import { copyProject } from "./project_copy.ts";

/** How to run a task. */
export interface TaskOptions {
  /** Variables that it gets beside those of this process. */
  env?: Record<string, string> | undefined;
  /** Where to run it. The project, when not given. */
  cwd?: URL;
  /** Runs it in a copy with files of the function changed: by name, what to replace with what. */
  change?: Record<string, [RegExp, string]>;
}

/** Runs a task as a process of its own; returns its exit status and everything it printed. */
export async function runTask(
  args: string[],
  { env, cwd = PROJECT, change }: TaskOptions = {},
): Promise<{ code: number; output: string }> {
  if (change) {
    await using copy = await copyProject();
    await changeFunction(copy.url, change);
    return await runTask(args, { env, cwd: copy.url });
  }
  const { code, stdout, stderr } = await run(
    Deno.execPath(),
    ["task", ...args],
    { cwd, env: { NO_COLOR: "1", ...env }, stdin: "null" },
  );
  return { code, output: `${stderr}\n${stdout}` };
}

/** A change of the function: another status for "no". */
export const NO_IS_404 = {
  "responses.ts": [new RegExp(`${NOT_FOUND.status}`), "404"],
} satisfies TaskOptions["change"];

/** Changes files of the function in a copy of the project. Each change has to change something. */
export async function changeFunction(
  copy: URL,
  change: Record<string, [RegExp, string]>,
): Promise<void> {
  for (const [name, [what, by]] of Object.entries(change)) {
    const file = new URL(FUNCTION_FOLDER_PATH + name, copy);
    const source = await Deno.readTextFile(file);
    const changed = source.replace(what, by);
    assertNotEquals(changed, source, name);
    await Deno.writeTextFile(file, changed);
  }
}
