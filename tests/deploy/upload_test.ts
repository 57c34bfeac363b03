/**
 * What `supabase functions deploy` uploads, to a stand-in for the platform; and the versions of the
 * tools that pages and scripts name. (`deno task test:upload` then runs what is uploaded.)
 */
import { assertEquals, assertMatch } from "@std/assert";
import { VERSIONS } from "../../tools/command.ts";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH as FOLDER } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PAGES, readPage } from "../support/pages.ts";
import { runOnPlatform, uploadFunction } from "../support/supabase_cli.ts";

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

// As where rows are missing: `docs/operate.md`, "All users are locked, or rows are missing".
Deno.test("functions delete: it takes the function away, and asks nothing; functions deploy brings it back", async () => {
  const { request: deletion } = await runOnPlatform("functions delete");
  assertEquals(deletion, "DELETE /v1/projects/<ref>/functions/check-username-active");
  const { request: deployment } = await runOnPlatform("functions deploy");
  assertEquals(deployment, "POST /v1/projects/<ref>/functions/deploy");
});

for (const page of [...PAGES, ".github/workflows/ci.yml", ".ci/run"]) {
  Deno.test(`versions: each npx in ${page} asks nothing, and has the version that the tests run`, async () => {
    const text = await readPage(page);
    const named = text.matchAll(/npx (-\S+ )?(deno|supabase)@?([^\s`]*)/g);
    for (const [command, flag, name, version] of named) {
      assertMatch(flag ?? "", /^(-y|--yes) $/, command);
      assertEquals(version, VERSIONS[name as "deno" | "supabase"], command);
    }
  });
}
