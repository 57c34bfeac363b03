/** What `supabase functions deploy` uploads. `deno task test:upload` runs it. */
import { assertEquals } from "@std/assert";
import { VERSIONS } from "../../tools/command.ts";
import * as project from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PAGES, readPage } from "../support/pages.ts";
import { uploadFunction } from "./supabase_cli.ts";

const { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH: FOLDER } = project;

Deno.test("upload: exactly the function's files, and callers need no token", async () => {
  await using folder = await makeTempFolder();
  const { names, metadata } = await uploadFunction(folder.url);
  const source = Array.from(Deno.readDirSync(FUNCTION_FOLDER), (it) => it.name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(names.toSorted(), source.map((name) => FOLDER + name).sort());
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
  assertEquals(metadata.verify_jwt, false, "fix supabase/config.toml");
});

for (const page of [...PAGES, ".github/workflows/ci.yml", ".ci/run"]) {
  Deno.test(`versions: ${page} names those that the tests run`, async () => {
    const text = await readPage(page);
    const named = text.matchAll(/npx (?:-\S+ )?(deno|supabase)@?(\S*)/g);
    for (const [command, name, version] of named) {
      const wanted = name === "deno" ? VERSIONS.deno : VERSIONS.supabase;
      assertEquals(version, wanted, command);
    }
  });
}
