/**
 * `deno task types`: generates `database.types.ts` from a database with the project's migrations.
 */
import { FUNCTION_FOLDER } from "../project.ts";
import { migrate } from "../stack/database.ts";
import { startDatabaseServer } from "../stack/database_server.ts";
import { downloadCli, supabase } from "../supabase_cli.ts";

if (import.meta.main) {
  await downloadCli();
  const file = new URL("database.types.ts", FUNCTION_FOLDER);
  await Deno.writeTextFile(file, await generateTypes());
  console.error("Wrote database.types.ts");
}

/**
 * Generates the TypeScript types of a database with the project's migrations.
 *
 * @returns The content of `database.types.ts`, formatted.
 * @throws {Error} When the CLI fails, with what it printed.
 */
export async function generateTypes(): Promise<string> {
  await using server = await startDatabaseServer("closed");
  await migrate(server);

  const command = "gen types --lang=typescript --schema=public".split(" ");
  const { code, stdout, stderr } = await supabase(
    [...command, `--remote=${server.url}`],
  );
  if (code !== 0) throw new Error(`supabase gen types failed:\n${stderr}`);
  // The CLI's output takes two passes to come to rest.
  return await format(await format(stdout));
}

async function format(source: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext=ts", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(source));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout);
}
