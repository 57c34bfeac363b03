import { PROJECT } from "../../tools/project.ts";
import { run } from "../../tools/run.ts";

/**
 * Runs a task as a process of its own.
 *
 * @param args Its name and its arguments.
 * @param env Variables that it gets beside those of this process.
 * @param cwd The project or a copy of it.
 * @returns Its exit code, and everything that it printed.
 */
export async function runTask(
  args: string[],
  env: Record<string, string> = {},
  cwd = PROJECT,
): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await run(
    Deno.execPath(),
    ["task", ...args],
    { cwd, env: { NO_COLOR: "1", ...env }, stdin: "null" },
  );
  return { code, output: `${stderr}\n${stdout}` };
}
