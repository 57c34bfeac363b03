/** What a command came to. */
export interface Output {
  success: boolean;
  code: number;
  /** What it printed, without white space around it. */
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Output> {
  try {
    const { success, code, stdout, stderr } = await new Deno.Command(command, {
      args,
      ...options,
    }).output();
    return { success, code, stdout: decode(stdout), stderr: decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`${command} is missing: install it`);
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

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim();
}
