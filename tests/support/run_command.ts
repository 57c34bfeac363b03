import { NPX } from "../../tools/npx.ts";

/** What a command came to. */
export interface Output {
  success: boolean;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command to its end.
 *
 * @throws {Error} When there is no such command.
 */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Output> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(command, {
      args,
      ...options,
    }).output();
    return { success, stdout: decode(stdout), stderr: decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`This test needs ${command}: install it`);
  }
}

/** Runs a package of npm, such as `esbuild@0.28.2`, to its end. */
export function npx(
  specifier: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Output> {
  return run(NPX, ["--yes", specifier, ...args], options);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim();
}
