import { VERSIONS } from "./versions.ts";

/**
 * Runs a command to its end, without input. Returns how it ended, and what it printed, trimmed.
 * Throws if it cannot start, but not if it fails.
 */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
) {
  const allOptions = { args, stdin: "null", ...options } as const;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  const output = await new Deno.Command(command, allOptions).output();
  const { code, stdout, stderr } = output;
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Runs a package of npm, such as `deno@2.1.4`, to its end. */
function npx(specifier: string, args: string[], options: Deno.CommandOptions) {
  const command = Deno.build.os === "windows" ? "npx.cmd" : "npx";
  return run(command, ["--yes", specifier, ...args], options);
}

/** Runs the Supabase CLI to its end. A command that would ask something needs `--yes`. */
export function supabase(
  args: string[],
  cwd: URL,
  moreEnv?: Record<string, string>,
) {
  const env = { DO_NOT_TRACK: "1", NO_COLOR: "1", ...moreEnv };
  return npx(`supabase@${VERSIONS.supabase}`, args, { cwd, env });
}

/**
 * Path of a Deno of the hosted edge runtime's version, from npm. Run it outside of the project,
 * whose lock file it cannot read.
 */
export async function edgeDeno(): Promise<string> {
  const args = ["eval", "console.log(Deno.execPath())"];
  const found = await npx(`deno@${VERSIONS.edgeDeno}`, args, { cwd: "/" });
  if (found.code !== 0) throw new Error(found.stderr);
  return found.stdout;
}
