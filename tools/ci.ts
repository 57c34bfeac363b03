/**
 * `deno task ci`: runs every task that has to pass before a change lands, or only the tasks that
 * its arguments name. Goes on after one that fails, so that one run shows everything that is wrong.
 */
import { DOMParser } from "@xmldom/xmldom";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "./temp_folder.ts";

const GATE = "check test test:load test:deploy test:upload test:docs";

const sum = { passed: 0, failed: 0, skipped: 0 };
const notes: string[] = [];
for (const task of Deno.args.length > 0 ? Deno.args : GATE.split(" ")) {
  console.log(`\n== deno task ${task}`);
  const { success, report } = await runTask(task);
  const count = (tag: string) => report.getElementsByTagName(tag).length;
  const tests = count("testcase");
  // An error is a test that did not run, because of an uncaught error in another one.
  const failed = count("failure") + count("error");
  const skipped = [...report.getElementsByTagName("skipped")];
  sum.passed += tests - failed - skipped.length;
  sum.failed += failed;
  sum.skipped += skipped.length;
  // A task without tests counts as one test. So does a failure that no test reports: a wrong type,
  // or a file that throws before its tests begin.
  if (success && tests === 0) sum.passed++;
  if (!success && failed === 0) sum.failed++;

  const names = skipped.map((tag) => tag.parentElement?.getAttribute("name"));
  notes.push(...names.map((name) => `Not run: ${name}`));
  if (!success) notes.push(`Failed: deno task ${task}`);
}

const suffix = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
notes.push(`${sum.passed} passed, ${sum.failed} failed${suffix}`);
console.log(["", ...notes].join("\n"));
Deno.exitCode = sum.failed > 0 ? 1 : 0;

/** Runs a task in the current folder. Returns its tests' JUnit report, empty if none began. */
async function runTask(task: string) {
  await using folder = await makeTempFolder();
  const path = fileURLToPath(new URL("report.xml", folder.url));
  const option = task.startsWith("test") ? [`--junit-path=${path}`] : [];
  const options = { args: ["task", task, ...option] };
  const child = new Deno.Command(Deno.execPath(), options).spawn();
  const { success } = await child.status;
  const xml = await Deno.readTextFile(path).catch(() => "<testsuites/>");
  const report = new DOMParser().parseFromString(xml, "text/xml");
  return { success, report };
}
