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
  const isRunning = (pid: number) => (readProcess(pid)?.state ?? "Z") !== "Z";
  while (Deno.ppid === parent && launchers.every(isRunning)) {
    await sleep(INTERVAL_MS);
  }
}

/**
 * The ancestors that only exist to run this: Deno, and npx with the shell between them. They are
 * told by their program's name, because the command line of any shell may mention Deno.
 */
function findLaunchers(pid: number): number[] {
  const ancestors: Process[] = [];
  for (let next = readProcess(pid); next; next = readProcess(next.parent)) {
    ancestors.push(next);
  }
  const denos = ancestors.findIndex(({ name }) => name !== "deno");
  const npx = ancestors.slice(denos, denos + 3)
    .findIndex(({ name }) => name.startsWith("npm exec deno"));
  return ancestors.slice(0, denos + npx + 1).map(({ pid }) => pid);
}

interface Process {
  pid: number;
  name: string;
  /** One letter. A process that nobody has waited for is a zombie, Z, and gone. */
  state: string;
  parent: number;
}

/** What the system says of a process. Nothing when there is none, or no `/proc`. */
function readProcess(pid: number): Process | undefined {
  try {
    // "pid (name) state ppid …", and a name may hold spaces and parentheses.
    const [, name = "", state = "", parent] = Deno
      .readTextFileSync(`/proc/${pid}/stat`)
      .match(/\((.*)\) (\w) (\d+)/s) ?? [];
    return { pid, name, state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
