import { fileURLToPath } from "node:url";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/** What a run of tests came to. */
export interface TestRun {
  /** The exit code of `deno test`. It is 0 for a run of no test, too. */
  code: number;
  /** How many tests ran, steps included, and how many were left out. 0 when the run failed. */
  tests: number;
  leftOut: number;
}

/**
 * Runs tests. What they print goes to the terminal.
 *
 * @param args Arguments of `deno test`, paths from the project's root among them.
 * @param env What the tests find in their environment, beside what this process has.
 */
export async function runTests(
  args: string[],
  env: Record<string, string>,
): Promise<TestRun> {
  await using folder = await makeTempFolder();
  const report = new URL("report.xml", folder.url);
  const { code } = await testCommand(
    [`--junit-path=${fileURLToPath(report)}`, ...args],
    env,
  ).spawn().status;
  return { code, ...code === 0 ? await countTests(report) : NONE };
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

const NONE = { tests: 0, leftOut: 0 };

/** Counts the tests of a JUnit report. */
async function countTests(report: URL): Promise<typeof NONE> {
  const xml = await Deno.readTextFile(report);
  const count = (tag: string) => xml.split(tag).length - 1;
  const leftOut = count("<skipped/>");
  return { tests: count("<testcase ") - leftOut, leftOut };
}
