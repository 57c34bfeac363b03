/**
 * What `supabase functions deploy` uploads, to a stand-in for the platform; and the versions of the
 * tools that pages and scripts name. (`deno task test:upload` then runs what is uploaded.)
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { VERSIONS } from "../../tools/command.ts";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH as FOLDER, PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readCommand, runOnPlatform, uploadFunction } from "../support/operators.ts";
import { fillIn, PAGES, readPage } from "../support/pages.ts";
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

// As where rows are missing: `docs/incidents.md`, "Rows are missing or wrong".
Deno.test("functions delete: it takes the function away, and asks nothing", async () => {
  const { changes } = await runOnPlatform(/ functions delete /);
  const requests = changes.map(({ request }) => request);
  assertEquals(requests, ["DELETE /v1/projects/<ref>/functions/check-username-active"]);
});

const INDEX = `${FOLDER}index.ts`;
/** What is checked out in an operator's clone, and what the line with a checkout deploys. */
const CHECKOUTS = [
  { when: "index.ts is edited", of: "<commit>", edit: INDEX, deployed: "the older commit" },
  { when: "it is edited, to upgrade", of: "origin/main", edit: INDEX, deployed: "the newest one" },
  // The older commit has a file of this name, so Git does not check it out.
  { when: "an untracked file is in the way", of: "<commit>", edit: "notes.txt" },
  { when: "the commit is unknown", of: "<commit>", commit: "0123abc" },
];

Deno.test("functions deploy: behind a checkout", async (test) => {
  await using origin = await makeTempFolder(PROJECT);
  const write = (folder: URL, path: string, text: string) =>
    Deno.writeTextFile(new URL(path, folder), text, { append: true });
  const commit = async (text: string) => {
    for (const path of [INDEX, "CHANGELOG.md"]) await write(origin.url, path, `// ${text}`);
    const git = "git add -A && git -c user.name=x -c user.email=x@x commit -qm x";
    const line = `${git} && ${await readCommand(/^git describe/)}`;
    return (await runLine(line, { cwd: origin.url })).stdout.trim();
  };
  await runLine("git init -qb main", { cwd: origin.url });
  await write(origin.url, "notes.txt", "");
  const older = await commit("the older commit");
  await Deno.remove(new URL("notes.txt", origin.url));
  await commit("the newest one");

  for (const { when, of, edit, commit = older, deployed } of CHECKOUTS) {
    await test.step(`when ${when} → ${deployed ?? "nothing"} is deployed`, async () => {
      await using clone = await makeTempFolder();
      const inClone = (line: string) => runLine(line, { cwd: clone.url });
      await inClone(`git clone -q "${fileURLToPath(origin.url)}" .`);
      const changelog = await inClone(fillIn(await readCommand(/^git fetch/), { commit: older }));
      assertStringIncludes(changelog.stdout, "the newest one");
      if (edit) await write(clone.url, edit, "// an edit");
      const line = new RegExp(`^git stash && git checkout ${of} && npx `);
      const options = { cwd: clone.url, values: { commit } };
      const { changes, error } = await runOnPlatform(line, options);
      assertEquals(changes.length, deployed ? 1 : 0, error || "deployments");
      if (!deployed) return assert(error, "the line does not fail");
      const index = changes[0]!.files.find(({ name }) => name === INDEX);
      assertMatch(await index!.text(), new RegExp(`// ${deployed}$`));
    });
  }
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
