import { PROJECT } from "./project.ts";
import { npx, type Output } from "./command.ts";
import { VERSIONS } from "./versions.ts";

/** The Supabase CLI, as npm names it. */
export const SUPABASE_CLI = `supabase@${VERSIONS.supabase}`;

/**
 * Runs the Supabase CLI non-interactively: pass `--yes` to commands that would prompt.
 *
 * @param options `cwd` is a folder with a `supabase` folder; the project's root, when not given.
 * @returns Its exit code and what it printed.
 */
export function supabase(
  args: string[],
  { cwd = PROJECT, env = {} }: Pick<Deno.CommandOptions, "cwd" | "env"> = {},
): Promise<Output> {
  // Kept out of `deno.lock`, so that running the tests does not download the CLI.
  return npx(SUPABASE_CLI, args, {
    cwd,
    env: { DO_NOT_TRACK: "1", NO_COLOR: "1", ...env },
    stdin: "null",
  });
}

/** Returns the warnings in the CLI's output, such as those about `config.toml`. */
export function warnings(stderr: string): string[] {
  return stderr.split("\n").filter((line) => /^WARN/i.test(line));
}

/**
 * Reads the variables that `supabase status` prints: `NAME="value"`, or `NAME='value'` from a stack
 * without Docker.
 */
export function readStatus(stdout: string): Record<string, string> {
  const lines = stdout.matchAll(/^(\w+)=(["']?)(.*?)\2\r?$/gm);
  return Object.fromEntries(
    Array.from(lines, ([, name = "", , value = ""]) => [name, value]),
  );
}
