import { PGlite } from "@electric-sql/pglite";
import { migrate, prepare } from "../stack/database.ts";
import { serveDatabase, supabase } from "./cli.ts";

/**
 * Generates the TypeScript types of a database with the project's migrations.
 *
 * @returns The content of `database.types.ts`, formatted.
 * @throws {Error} When the CLI fails, with what it printed.
 */
export async function generateTypes(): Promise<string> {
  await using database = await PGlite.create();
  await prepare(database, "closed");
  await migrate(database);
  await using server = await serveDatabase(database);

  const { code, stdout, stderr } = await supabase([
    "gen",
    "types",
    "--lang=typescript",
    "--schema=public",
    `--remote=${server.url}`,
  ]);
  if (code !== 0) throw new Error(`supabase gen types failed:\n${stderr}`);
  return await format(stdout);
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
