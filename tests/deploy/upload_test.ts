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

// As where rows are missing: `docs/incidents.md`, "Rows are missing or wrong".
Deno.test("functions delete: it takes the function away, and asks nothing", async () => {
  const { changes } = await runOnPlatform(/ functions delete /);
  const requests = changes.map(({ request }) => request);
  assertEquals(requests, ["DELETE /v1/projects/<ref>/functions/check-username-active"]);
});

/** What is in the operator's clone, where the newest commit is checked out; and what is deployed. */
const CHECKOUTS = [
  { when: "nothing is edited", line: /checkout <commit> && npx/, deployed: "the older commit" },
  {
    when: "index.ts is edited",
    line: /checkout <commit> && npx/,
    edit: `${FOLDER}index.ts`,
    deployed: "the older commit",
  },
  {
    when: "index.ts is edited, in an upgrade",
    line: /checkout origin.main && npx/,
    edit: `${FOLDER}index.ts`,
    deployed: "the newest commit",
  },
  // The older commit has a file of this name, so Git does not check it out.
  { when: "an untracked file is in the way", line: /checkout <commit> && npx/, edit: "notes.txt" },
  { when: "the commit is unknown", line: /checkout <commit> && npx/, commit: "0123abc" },
];

Deno.test("git checkout, and functions deploy behind it", async (test) => {
  await using origin = await makeTempFolder(PROJECT);
  const write = (folder: URL, path: string, text: string) =>
    Deno.writeTextFile(new URL(path, folder), text, { append: true });
  const commit = async (text: string) => {
    await write(origin.url, `${FOLDER}index.ts`, `// ${text}`);
    await write(origin.url, "CHANGELOG.md", `- ${text}`);
    const line = "git add -A && git -c user.name=x -c user.email=x@x commit -qm x && " +
      (await readCommand(/^git describe/));
    return (await runLine(line, { cwd: origin.url })).stdout.trim();
  };
  await runLine("git init -qb main", { cwd: origin.url });
  await write(origin.url, "notes.txt", "");
  const older = await commit("the older commit");
  await Deno.remove(new URL("notes.txt", origin.url));
  await commit("the newest commit");

  for (const { when, line, edit, commit = older, deployed } of CHECKOUTS) {
    await test.step(`when ${when} → ${deployed ?? "nothing"} is deployed`, async () => {
      await using clone = await makeTempFolder(); // Its files are the operator's.
      await runLine(`git clone -q "${fileURLToPath(origin.url)}" .`, { cwd: clone.url });
      if (edit) await write(clone.url, edit, "// an edit");
      const options = { cwd: clone.url, values: { commit } };
      const { changes, error } = await runOnPlatform(line, options);
      if (!deployed) return assert(changes.length === 0 && error, "it is deployed");
      const files = changes[0]!.form.getAll("file").filter((file) => file instanceof File);
      const index = files.find(({ name }) => name.endsWith("index.ts"));
      assertMatch(await index!.text(), new RegExp(`// ${deployed}$`));
      const describe = await runLine(await readCommand(/^git describe/), { cwd: clone.url });
      assertEquals(describe.stdout.trim() === older, deployed === "the older commit");
    });
  }

  await test.step("before an upgrade, the changelog's difference is shown", async () => {
    await using clone = await makeTempFolder();
    await runLine(`git clone -q "${fileURLToPath(origin.url)}" .`, { cwd: clone.url });
    const line = fillIn(await readCommand(/^git fetch/), { commit: older });
    const { stdout } = await runLine(line, { cwd: clone.url });
    assertStringIncludes(stdout, "the newest commit");
  });
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
