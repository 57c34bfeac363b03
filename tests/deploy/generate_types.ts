/**
 * `deno task types`: generates `database.types.ts` from a database with the project's migrations.
 */
import { FUNCTION_FOLDER } from "../stack/function_process.ts";
import { downloadCli } from "./cli.ts";
import { generateTypes } from "./types.ts";

await downloadCli();
const file = new URL("database.types.ts", FUNCTION_FOLDER);
await Deno.writeTextFile(file, await generateTypes());
console.error("Wrote database.types.ts");
