/** `deno task types`: generates `database.types.ts` from the project's migrations. */
import { execFileSync } from "node:child_process";
import { stdoutOf, supabase } from "./command.ts";
import { FUNCTION_FOLDER } from "./project.ts";
import { migrate, startDatabaseServer } from "./stack/database.ts";

/** The file that this task writes. */
export const TYPES_FILE = new URL("database.types.ts", FUNCTION_FOLDER);

if (import.meta.main) await Deno.writeTextFile(TYPES_FILE, await generate());

/** Returns the content of `database.types.ts`, formatted. */
export async function generate(): Promise<string> {
  await using server = await startDatabaseServer("closed");
  await migrate(server);
  const command = "gen types --lang=typescript --schema=public".split(" ");
  const output = await supabase([...command, `--remote=${server.url}`]);
  // What the CLI prints needs two passes to reach a stable format.
  return format(format(stdoutOf(output)));
}

const format = (source: string) =>
  `${
    execFileSync(Deno.execPath(), ["fmt", "--ext=ts", "-"], { input: source })
  }`;
