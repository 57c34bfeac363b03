import { assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { run } from "../../tools/command.ts";

/**
 * Runs a task as a process of its own. Fails unless it ends with this exit code, and prints this
 * text.
 *
 * @param args Its name and its arguments.
 * @param env Variables that it gets beside those of this process.
 * @param cwd The project or a copy of it.
 * @returns Everything that it printed.
 */
export async function assertTask(
  args: string[],
  expected: number,
  says: string,
  env: Record<string, string> = {},
  cwd = PROJECT,
): Promise<string> {
  const { code, stdout, stderr } = await run(
    Deno.execPath(),
    ["task", ...args],
    { cwd, env: { NO_COLOR: "1", ...env }, stdin: "null" },
  );
  const output = `${stderr}\n${stdout}`;
  assertEquals(code, expected, output);
  assertStringIncludes(output, says);
  return output;
}
