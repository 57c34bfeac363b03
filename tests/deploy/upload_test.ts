/** What `supabase functions deploy` uploads. `deno task test:upload` runs the first upload. */
import { existsSync } from "node:fs";
import { assertEquals } from "@std/assert";
import { VERSIONS } from "../../tools/command.ts";
import * as project from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PAGES, readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { uploadFunction } from "./supabase_cli.ts";

const { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH: FOLDER } = project;

Deno.test("functions deploy: it uploads exactly the function's files, and lets callers in without a token", async () => {
  await using folder = await makeTempFolder();
  const { names, metadata } = await uploadFunction(folder.url);
  const source = Array.from(Deno.readDirSync(FUNCTION_FOLDER), ({ name }) => name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(names.toSorted(), source.map((name) => FOLDER + name).sort());
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
  assertEquals(metadata.verify_jwt, false, "fix supabase/config.toml");
});

Deno.test("functions deploy: by the lines of docs/deploy.md, it uploads the example's two files", async () => {
  const page = "docs/deploy.md";
  const [block = ""] = await readBlocks(page, "sh", "Deploy the example");
  const [copy = "", _deploy, remove = ""] = block.split("\n");
  await using clone = await makeTempFolder(project.PROJECT);
  await using folder = await makeTempFolder();
  const copied = new URL("supabase/functions/activate-key/", clone.url);

  await runLine(copy, { cwd: clone.url });
  const options = { page, name: "activate-key", project: clone.url };
  const { names, metadata } = await uploadFunction(folder.url, options);
  await runLine(remove, { cwd: clone.url });

  assertEquals(names.toSorted(), [
    "supabase/functions/activate-key/deno.json",
    "supabase/functions/activate-key/index.ts",
  ]);
  assertEquals(metadata.verify_jwt, false);
  assertEquals(existsSync(copied), false, "the copy is still there");
});

for (const page of [...PAGES, ".github/workflows/ci.yml", ".ci/run"]) {
  Deno.test(`versions: ${page} runs those that the tests run`, async () => {
    const text = await readPage(page);
    const named = text.matchAll(/npx (?:-\S+ )?(deno|supabase)@?([^\s`]*)/g);
    for (const [command, name, version] of named) {
      assertEquals(version, VERSIONS[name as "deno" | "supabase"], command);
    }
  });
}
