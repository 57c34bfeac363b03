/** Processes that tests run: a line of a page, and the local stack. */
import { exec, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** For tests of a page's commands: runs a line in sh, or on Windows in cmd. Rejects if it fails. */
export const runLine = promisify(exec);

/**
 * For tests on the local stack: runs that of a folder at any free port, and waits until it serves.
 * Rejects with what it has printed if it does not serve. Disposing of the result kills it.
 */
export async function runStart(folder: URL, ...options: string[]) {
  const args = ["run", "-A", "tools/start.ts", "--port=0", ...options];
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(Deno.execPath(), args, { cwd: folder, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => output += text);
  }
  const ended = once(child, "close").then(() => output += "\nIt has ended.\n");
  const end = async () => void (child.kill("SIGKILL") && await ended);
  const printed = /^API_URL=(.*)$|It has ended/m;
  await waitUntil(() => printed.test(output), () => output);
  const [, url] = output.match(printed) ?? [];
  if (!url) throw new Error(output);
  return { child, url, ended, output: () => output, [Symbol.asyncDispose]: end };
}

/**
 * For tests of something that takes a while: waits until a condition holds. After a minute without
 * that, throws an error that says `why`.
 */
export async function waitUntil(holds: () => unknown, why: () => string) {
  const giveUpAt = performance.now() + 60_000;
  while (!await holds()) {
    if (performance.now() > giveUpAt) throw new Error(why());
    await sleep(50);
  }
}
