import { assertEquals } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { supabase, warnings } from "../../tools/supabase_cli.ts";
import type { DatabaseServer } from "../../tools/stack/database_server.ts";
import { cliCommand } from "../support/pages.ts";

/** Pushes the migrations of a project to a database, as the page for operators says. */
export async function push(
  server: DatabaseServer,
  cwd = PROJECT,
): Promise<string> {
  return await runCli(server, await cliCommand("db push"), cwd);
}

/** Runs the CLI on a database; fails if it fails or prints a warning. Gives what it printed. */
export async function runCli(
  server: DatabaseServer,
  args: string[],
  cwd = PROJECT,
) {
  const { code, stdout, stderr } = await tryCli(server, args, cwd);
  assertEquals(code, 0, `supabase ${args.join(" ")}:\n${stderr}`);
  assertEquals(warnings(stderr), [], "fix supabase/config.toml");
  return stdout;
}

/** Runs the CLI on a database, in a project's folder: this one's, when not given. */
export function tryCli({ url }: DatabaseServer, args: string[], cwd = PROJECT) {
  return supabase([...args, "--yes", `--remote=${url}`], { cwd });
}
