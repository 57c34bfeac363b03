/**
 * `deno task ci`: runs every task that has to pass before a change lands, or only the tasks that its
 * arguments name. Goes on after one that fails, so that one run shows everything that is wrong.
 */
import { DOMParser, type Element } from "@xmldom/xmldom";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "./temp_folder.ts";

const GATE = "check test test:load test:deploy test:upload test:docs".split(
  " ",
);

const tasks = Deno.args.length > 0 ? Deno.args : GATE;
const count = { passed: 0, failed: 0, skipped: 0 };
const notes: string[] = [];

for (const task of tasks) {
  console.log(`\n== deno task ${task}`);
  const { success, tests } = await runTask(task);
  const failed = tests.filter((test) => has(test, "failure"));
  const skipped = tests.filter((test) => has(test, "skipped"));
  count.passed += tests.length - failed.length - skipped.length;
  count.failed += failed.length;
  count.skipped += skipped.length;
  // A task without tests counts as one test. So does a failure that is no test's: of a type, or of a
  // file that throws before its tests begin.
  if (success && tests.length === 0) count.passed++;
  if (!success && failed.length === 0) count.failed++;

  const names = skipped.map((test) => test.getAttribute("name"));
  notes.push(...names.map((name) => `Not run, for a reason above: ${name}`));
  if (!success) notes.push(`Failed: deno task ${task}`);
}

const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
const sum = `${count.passed} passed, ${count.failed} failed${skipped}`;
console.log(["", ...notes, sum].join("\n"));
Deno.exitCode = count.failed > 0 ? 1 : 0;

/** Runs a task in the current folder. Returns the tests of its JUnit report, if it runs any. */
async function runTask(task: string) {
  await using folder = await makeTempFolder();
  const path = fileURLToPath(new URL("report.xml", folder.url));
  const report = task.startsWith("test") ? [`--junit-path=${path}`] : [];
  const args = ["task", task, ...report];
  const { success } = await new Deno.Command(Deno.execPath(), { args })
    .spawn().status;
  // There is none when no test began.
  const xml = await Deno.readTextFile(path).catch(() => "<testsuites/>");
  const document = new DOMParser().parseFromString(xml, "text/xml");
  return { success, tests: [...document.getElementsByTagName("testcase")] };
}

function has(test: Element, result: "failure" | "skipped"): boolean {
  return test.getElementsByTagName(result).length > 0;
}
