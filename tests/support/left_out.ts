/** What a test needs of the operating system, and which ones have it. */
const NEEDS = {
  /** Ending another process by SIGINT, as Ctrl-C does, and telling that a parent is gone. */
  "signals": ["linux", "darwin"],
  /** Turns for every connection. Wine has none; on Windows itself, that was not tried. */
  "fair sockets": ["linux", "darwin"],
  /** Asking for the memory of a process. */
  "/proc or ps": ["linux", "darwin"],
};

type Need = keyof typeof NEEDS;

/** Gives a `test` for those that are left out on systems that lack something. */
export function testWith(need: Need) {
  return (name: string, fn: () => Promise<void>): void =>
    Deno.test({ name, ignore: isLeftOut(name, need), fn });
}

/**
 * Whether something is left out on this system: the only rule by which anything is. It is printed,
 * with the reason.
 */
export function isLeftOut(what: string, need: Need): boolean {
  if (NEEDS[need].includes(Deno.build.os)) return false;
  console.log(`Left out, because ${Deno.build.os} has no ${need}: ${what}`);
  return true;
}
