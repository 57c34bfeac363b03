/**
 * What `supabase functions deploy` uploads, to a stand-in for the platform; and the versions of the
 * tools that pages and scripts name. (`deno task test:upload` then runs what is uploaded.)
 */
import { assertEquals, assertMatch } from "@std/assert";
import { VERSIONS } from "../../tools/command.ts";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH as FOLDER } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { uploadFunction } from "../support/operators.ts";
import { PAGES, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";

Deno.test("functions deploy: it uploads the function's files alone, and lets callers in without a token", async () => {
  await using folder = await makeTempFolder();
  const { request, names, metadata } = await uploadFunction(folder.url);
  assertEquals(request, "POST /v1/projects/<ref>/functions/deploy");
  const source = Array.from(Deno.readDirSync(FUNCTION_FOLDER), ({ name }) => name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(names.toSorted(), source.map((name) => FOLDER + name).sort());
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
  assertEquals(metadata.verify_jwt, false, "fix supabase/config.toml");
});

Deno.test("versions: this version of the Supabase CLI has each command that a page names", async () => {
  const pages = await Promise.all(PAGES.map(readPage));
  const commands = pages.join().match(/npx -y supabase@[\d.]+( [a-z-]+)+/g) ?? [];
  await Promise.all(Array.from(new Set(commands), async (command) => {
    const { stdout } = await runLine(`${command} --help`);
    assertMatch(stdout, /USAGE\n +supabase (?!.*<subcommand>)/, command);
  }));
});

for (const page of [...PAGES, ".github/workflows/ci.yml", ".ci/run"]) {
  Deno.test(`versions: each npx in ${page} asks nothing, and has the tested version`, async () => {
    const text = await readPage(page);
    const named = text.matchAll(/npx (-\S+ )?(deno|supabase)@?([^\s`]*)/g);
    for (const [command, flag, name, version] of named) {
      assertMatch(flag ?? "", /^(-y|--yes) $/, command);
      assertEquals(version, VERSIONS[name as "deno" | "supabase"], command);
    }
  });
}
