/** The versions that this project is made for, and what runs them: both come from npm. */
export const SUPABASE_CLI = "supabase@3.1.0";
const EDGE_DENO = "deno@2.1.4";

/** What runs a package of npm. */
export const NPX = Deno.build.os === "windows" ? "npx.cmd" : "npx";

/** The project's root, where the CLI runs. */
export const PROJECT = new URL("../../", import.meta.url);

/** What a run of the CLI came to. */
export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** How to run the CLI. */
export interface CliOptions {
  /** The folder to run in, one with a `supabase` folder: the project's root, when not given. */
  cwd?: URL;
  /** Variables that it gets beside those of this process. */
  env?: Record<string, string>;
}

/**
 * Runs the Supabase CLI, which answers nothing by itself: `--yes` has to be among its arguments
 * where it would ask.
 *
 * @returns Its exit code and what it printed.
 */
export async function supabase(
  args: string[],
  { cwd = PROJECT, env = {} }: CliOptions = {},
): Promise<CliResult> {
  const { code, stdout, stderr } = await new Deno.Command(NPX, {
    // The CLI is no dependency in `deno.lock`: who only runs the tests should not download it.
    args: ["--yes", SUPABASE_CLI, ...args],
    cwd,
    env: { DO_NOT_TRACK: "1", NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

/** What the CLI has to say against `config.toml`, among what it printed. */
export function warnings(stderr: string): string[] {
  return stderr.split("\n").filter((line) => /^WARN/i.test(line));
}

/** Downloads the CLI, if that has not been done, and says so: it takes a while. */
export async function downloadCli(): Promise<void> {
  console.error(`Getting ${SUPABASE_CLI} from npm: 140 MB, the first time ...`);
  const { code, stderr } = await supabase(["--version"]);
  if (code !== 0) throw new Error(`It cannot be had:\n${stderr}`);
}

/**
 * The Deno at the level of the hosted edge runtime: the one that `EDGE_DENO` names, or else that
 * of npm, which is downloaded if need be.
 *
 * @returns Path of its executable.
 */
export async function edgeDeno(): Promise<string> {
  const own = Deno.env.get("EDGE_DENO");
  if (own) return own;
  console.error(`Getting ${EDGE_DENO} from npm: 50 MB, the first time ...`);
  const { success, stdout, stderr } = await new Deno.Command(NPX, {
    args: ["--yes", EDGE_DENO, "eval", "console.log(Deno.execPath())"],
    // Not in the project: this Deno could not read its lock file.
    cwd: "/",
  }).output();
  if (!success) throw new Error(`It cannot be had:\n${decode(stderr)}`);
  return decode(stdout).trim();
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
