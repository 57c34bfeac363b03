import { spawnSync } from "node:child_process";

const isPosix = () => Deno.build.os !== "windows";
const starts = (command: string) => !spawnSync(command, ["--version"]).error;

/** What a test may need, and whether this machine has that. */
const HAS = {
  "signals": isPosix,
  "fair sockets": isPosix,
  "the memory of a process": isPosix,
  "mcs and mono": () => starts("mcs") && starts("mono"),
};

/**
 * Returns a `test` for tests with a need that not every machine meets. Where it is not met, such a
 * test is ignored, and its name is printed with the reason. `timeout` is in milliseconds; 0 is none.
 */
export function testWith(need: keyof typeof HAS, timeout = 0) {
  const ignore = !HAS[need]();
  return (name: string, fn: () => Promise<void>): void => {
    if (ignore) console.log(`Left out, because it needs ${need}: ${name}`);
    Deno.test({ name, ignore, timeout, fn });
  };
}
