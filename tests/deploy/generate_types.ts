/**
 * `deno task types`: generates `database.types.ts` from a database with the project's migrations.
 */
import { FUNCTION_FOLDER } from "../stack/function_process.ts";
import { generateTypes } from "./types.ts";

console.error(
  "Asking the Supabase CLI for the types (its first run downloads 140 MB) ...",
);
const file = new URL("database.types.ts", FUNCTION_FOLDER);
await Deno.writeTextFile(file, await generateTypes());
console.error("Wrote database.types.ts");
