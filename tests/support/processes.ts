import { exec } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** Runs a line as a person would: in sh, and on Windows in cmd. */
export const runLine = promisify(exec);

export type Condition = () => boolean | Promise<boolean>;

/** Waits until a condition holds. After a minute without that, throws an error that says `why`. */
export async function waitUntil(holds: Condition, why: () => string) {
  const giveUpAt = performance.now() + 60_000;
  while (!await holds()) {
    if (performance.now() > giveUpAt) throw new Error(why());
    await sleep(50);
  }
}
