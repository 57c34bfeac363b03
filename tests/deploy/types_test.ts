import { assert } from "@std/assert";
import { FUNCTION_FOLDER } from "../stack/function_process.ts";
import { generateTypes } from "./types.ts";

Deno.test("types: database.types.ts is what the CLI generates from the migrations", async () => {
  const file = new URL("database.types.ts", FUNCTION_FOLDER);
  assert(
    await Deno.readTextFile(file) === await generateTypes(),
    "database.types.ts is out of date. Run: deno task types",
  );
});
