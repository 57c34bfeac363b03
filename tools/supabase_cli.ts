import { PROJECT } from "./project.ts";
import { npx, type Output } from "./command.ts";
import { VERSIONS } from "./versions.ts";

/** Runs the Supabase CLI non-interactively: pass `--yes` to commands that would prompt. */
export function supabase(
  args: string[],
  { cwd = PROJECT, env = {} }: Pick<Deno.CommandOptions, "cwd" | "env"> = {},
): Promise<Output> {
  // Kept out of `deno.lock`, so that running the tests does not download the CLI.
  return npx(`supabase@${VERSIONS.supabase}`, args, {
    cwd,
    env: { DO_NOT_TRACK: "1", NO_COLOR: "1", ...env },
    stdin: "null",
  });
}
