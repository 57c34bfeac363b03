import { fileURLToPath } from "node:url";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/**
 * Runs tests. What they print goes to the terminal.
 *
 * @param args Arguments of `deno test`, paths from the project's root among them.
 * @param env What the tests find in their environment, beside what this process has.
 * @returns The exit code of `deno test`, which is 0 for a run of no test, too; how many tests ran,
 * steps included, and how many were left out.
 */
export async function runTests(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; tests: number; leftOut: number }> {
  await using folder = await makeTempFolder();
  const report = new URL("report.xml", folder.url);
  const { code } = await testCommand(
    [`--junit-path=${fileURLToPath(report)}`, ...args],
    env,
  ).spawn().status;
  // There is none when the tests do not compile.
  const xml = await Deno.readTextFile(report).catch(() => "");
  const count = (tag: string) => xml.split(tag).length - 1;
  const leftOut = count("<skipped/>");
  return { code, tests: count("<testcase ") - leftOut, leftOut };
}

/** Makes the command that runs tests, with the parameters of `runTests`. */
export function testCommand(
  args: string[],
  env: Record<string, string>,
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", ...args],
    cwd: new URL("../..", import.meta.url),
    // With --parallel: one more than there are processors, because many tests wait.
    env: {
      DENO_JOBS: Deno.env.get("DENO_JOBS") ??
        `${navigator.hardwareConcurrency + 1}`,
      ...env,
    },
  });
}
