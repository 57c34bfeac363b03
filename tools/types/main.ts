/**
 * `deno task types`: generates `database.types.ts` from a database with the project's migrations.
 */
import { FUNCTION_FOLDER } from "../project.ts";
import { downloadCli } from "../supabase_cli.ts";
import { generateTypes } from "./generate_types.ts";

await downloadCli();
const file = new URL("database.types.ts", FUNCTION_FOLDER);
await Deno.writeTextFile(file, await generateTypes());
console.error("Wrote database.types.ts");
