/** What a test needs of the operating system, and which ones have it. */
const NEEDS = {
  /** Ending another process by SIGINT, as Ctrl-C does. */
  "signals": ["linux", "darwin"],
  /** Looking at other processes in `/proc`. */
  "/proc": ["linux"],
  /** Turns for every connection. Wine has none; on Windows itself, that was not tried. */
  "fair sockets": ["linux", "darwin"],
  /** Asking for the memory of a process. */
  "/proc or ps": ["linux", "darwin"],
};

/**
 * Whether a test is left out on this system: the only rule by which one is. What is left out is
 * printed, with the reason.
 *
 * @param test The test's name.
 * @param need What it needs.
 */
export function isLeftOut(test: string, need: keyof typeof NEEDS): boolean {
  if (NEEDS[need].includes(Deno.build.os)) return false;
  console.log(`Left out, because ${Deno.build.os} has no ${need}: ${test}`);
  return true;
}
