import { spawnSync } from "node:child_process";

const canStart = (command: string) => !spawnSync(command, ["--version"]).error;

/** What a test may need, and whether this machine has that. */
const HAS = {
  "POSIX": () => Deno.build.os !== "windows",
  "mcs and mono": () => canStart("mcs") && canStart("mono"),
};

/**
 * Returns a `Deno.test` for tests with this need. Where it is unmet, they are ignored, and the
 * reason is printed. `timeout` is in milliseconds; 0 is none.
 */
export function testNeeding(need: keyof typeof HAS, timeout = 0) {
  const ignore = !HAS[need]();
  return (name: string, fn: () => Promise<void>): void => {
    if (ignore) console.log(`Left out, because it needs ${need}: ${name}`);
    Deno.test({ name, ignore, timeout, fn });
  };
}
