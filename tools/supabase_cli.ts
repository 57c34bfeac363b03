import { PROJECT } from "./project.ts";
import { npx, type Output } from "./command.ts";
import { VERSIONS } from "./versions.ts";

/** The Supabase CLI, as npm names it. */
export const SUPABASE_CLI = `supabase@${VERSIONS.supabase}`;

/** How to run the CLI. */
export interface CliOptions {
  /** The folder to run in, one with a `supabase` folder: the project's root, when not given. */
  cwd?: URL;
  /** Variables that it gets beside those of this process. */
  env?: Record<string, string>;
}

/**
 * Runs the Supabase CLI non-interactively: pass `--yes` to commands that would prompt.
 *
 * @returns Its exit code and what it printed.
 */
export function supabase(
  args: string[],
  { cwd = PROJECT, env = {} }: CliOptions = {},
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

/**
 * Downloads the CLI, if that has not been done.
 *
 * @throws {Error} When the download fails.
 */
export async function downloadCli(): Promise<void> {
  const { code, stderr } = await supabase(["--version"]);
  if (code !== 0) {
    throw new Error(`${SUPABASE_CLI} could not be downloaded:\n${stderr}`);
  }
}
