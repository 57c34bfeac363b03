import { assertEquals } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { supabase, warnings } from "../../tools/supabase_cli.ts";
import type { DatabaseServer } from "../../tools/stack/database_server.ts";
import { cliCommand } from "../support/pages.ts";

/**
 * Pushes the migrations of a project to a database, as the page for operators says.
 *
 * @param server The database.
 * @param cwd The project's folder: this one, when not given.
 * @returns What the CLI printed.
 */
export async function push(
  server: DatabaseServer,
  cwd = PROJECT,
): Promise<string> {
  return await runCli(server, await cliCommand("db push"), cwd);
}

/** Runs the CLI on a database; fails if the command fails or prints a warning. */
export async function runCli(
  server: DatabaseServer,
  args: string[],
  cwd = PROJECT,
): Promise<string> {
  const { code, stdout, stderr } = await supabase(
    [...args, "--yes", `--remote=${server.url}`],
    { cwd },
  );
  assertEquals(code, 0, `supabase ${args.join(" ")}:\n${stderr}`);
  assertEquals(warnings(stderr), [], "fix supabase/config.toml");
  return stdout;
}
