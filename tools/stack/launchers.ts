import { setTimeout as sleep } from "node:timers/promises";

/** How often to look, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Waits until a process that started this one is gone: `deno task`, or `npx` above it. Ctrl-C
 * reaches all of them, but a `kill` reaches one, and this one would stay behind.
 *
 * @returns Resolves when one is gone. Where there is no `/proc`, only the parent is looked at.
 */
export async function launcherEnded(): Promise<void> {
  const parent = Deno.ppid;
  const launchers = findLaunchers(parent);
  while (Deno.ppid === parent && launchers.every(isRunning)) {
    await sleep(INTERVAL_MS);
  }
}

/** The ancestors that only exist to run Deno: they name it in their command line. */
function findLaunchers(pid: number): number[] {
  try {
    if (!/\bdeno\b/.test(Deno.readTextFileSync(`/proc/${pid}/cmdline`))) {
      return [];
    }
    // "pid (name) state ppid …", and a name may have spaces.
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]);
    return [pid, ...findLaunchers(parent)];
  } catch {
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    // A process that nobody has waited for is a zombie, and gone.
    return !/\) Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}
