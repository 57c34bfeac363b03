import { assert } from "@std/assert";
import { FUNCTION_FOLDER } from "../../tools/project.ts";
import { generateTypes } from "../../tools/types/generate_types.ts";

Deno.test("types: database.types.ts is what the CLI generates from the migrations", async () => {
  const file = new URL("database.types.ts", FUNCTION_FOLDER);
  assert(
    await Deno.readTextFile(file) === await generateTypes(),
    "database.types.ts is out of date. Run: deno task types",
  );
});
