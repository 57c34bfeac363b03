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
  // On a busy machine, the first start takes minutes.
  await waitUntil("the local stack to serve", () => printed.test(output), () => output, 180);
  const [, url] = output.match(printed) ?? [];
  if (!url) throw new Error(output);
  return { child, url, ended, output: () => output, [Symbol.asyncDispose]: end };
}

/**
 * For tests of something that takes a while: waits until a condition holds. If it does not within
 * `maxS` seconds, throws an error that says for what it has waited, and what was printed meanwhile.
 */
export async function waitUntil(what: string, holds: () => unknown, printed = () => "", maxS = 60) {
  const giveUpAt = performance.now() + 1_000 * maxS;
  while (!await holds()) {
    if (performance.now() < giveUpAt) await sleep(50);
    else throw new Error(`Waited ${maxS} s for ${what}. Printed so far:\n${printed()}`);
  }
}
