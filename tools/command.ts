import { VERSIONS } from "./versions.ts";

/** What a command came to, and what it printed, without white space around it. */
export type Output = Awaited<ReturnType<typeof run>>;

/** Runs a command to its end. */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
) {
  const program = new Deno.Command(command, { args, ...options });
  try {
    const { success, code, stdout, stderr } = await program.output();
    return { success, code, stdout: decode(stdout), stderr: decode(stderr) };
  } catch (cause) {
    throw new Error(`${command} does not start: is it installed?`, { cause });
  }
}

/** Runs a package of npm, such as `esbuild@0.28.2`, to its end. */
export function npx(
  specifier: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Output> {
  const command = Deno.build.os === "windows" ? "npx.cmd" : "npx";
  return run(command, ["--yes", specifier, ...args], options);
}

/** Gives what a command printed. Throws what it said if it failed. */
export function printed({ success, stdout, stderr }: Output): string {
  if (success) return stdout;
  throw new Error(stderr);
}

/** Path of a Deno at the level of the hosted edge runtime: `EDGE_DENO`, or else that of npm. */
export async function edgeDeno(): Promise<string> {
  const args = ["eval", "console.log(Deno.execPath())"];
  return Deno.env.get("EDGE_DENO") ||
    // Not in the project: this Deno cannot read its lock file.
    printed(await npx(`deno@${VERSIONS.edgeDeno}`, args, { cwd: "/" }));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim();
}
