/** The documentation matches the project. */
import { assert, assertEquals } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { screen } from "../../tools/stack/screen.ts";
import { VERSIONS } from "../../tools/versions.ts";
import * as ANSWERS from "../support/answers.ts";
import { codeBlock, PAGES, readPage } from "../support/pages.ts";

for (const page of PAGES) {
  Deno.test(`page: every link of ${page} leads somewhere`, async () => {
    const text = await readPage(page);
    for (const [, target = ""] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (target.startsWith("http")) continue;
      const [path = "", heading] = target.split("#");
      const url = new URL(
        path || page.replace(/.*\//, ""),
        new URL(page, PROJECT),
      );
      await Deno.stat(url);
      if (!heading) continue;
      const headings = (await Deno.readTextFile(url)).matchAll(/^#+ (.+)$/gm)
        .map(([, title = ""]) =>
          title.toLowerCase().replaceAll(/[^\w\s-]/g, "").replaceAll(" ", "-")
        );
      assert(headings.toArray().includes(heading), target);
    }
  });
}

Deno.test("page: the requests of README.md are those that start prints", async () => {
  const printed = screen(LOCAL_SERVICE, "windows").split("\n");
  const commands = { sh: "curl", powershell: "Invoke-RestMethod" };
  for (const [language, command] of Object.entries(commands)) {
    const [line] = printed.filter((line) => line.startsWith(`${command} `));
    const block = await codeBlock(
      "README.md",
      language,
      LOCAL_SERVICE.API_URL,
    );
    assertEquals(block.trim(), line);
  }
});

Deno.test("page: CONTRIBUTING.md names every task", async () => {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", PROJECT)),
  );
  const named = (await readPage("CONTRIBUTING.md"))
    .matchAll(/^\| `([a-z:]+)(?: --\w+)?` +\|/gm)
    .map(([, name = ""]) => name).toArray();
  assertEquals(named.sort(), Object.keys(tasks).sort());
});

Deno.test("page: CONTRIBUTING.md names every environment variable that the code reads", async () => {
  const page = await readPage("CONTRIBUTING.md");
  const read = new Set<string>();
  for await (const url of sources()) {
    const source = await Deno.readTextFile(url);
    // Read outright, or by a helper.
    for (
      const [, name = ""] of source.matchAll(
        /(?:env\.get|variable|required)\(\s*"([A-Z_]+)"/g,
      )
    ) read.add(name);
  }
  read.delete("PATH");
  assert(read.size >= 12, `found only ${[...read]}`);
  const missing = [...read].filter((name) => !page.includes(`\`${name}\``));
  assertEquals(missing, []);
});

Deno.test("page: the table of README.md has the responses of the contract, and no others", async () => {
  const said = (await readPage("README.md"))
    .matchAll(/^\|.*\| (\d{3})\b[^|]*\| +(`\{.*\}`|none) +\|$/gm)
    .map(([, status, body]) => `${status} ${body}`).toArray();
  const expected = Object.values(ANSWERS).map(({ status, body }) =>
    `${status} ${body === null ? "none" : `\`${JSON.stringify(body)}\``}`
  );
  assertEquals(said.sort(), expected.sort());
});

Deno.test("page: every version of Deno and of the CLI is the one of tools/versions.ts", async () => {
  const expected: Record<string, string> = {
    deno: VERSIONS.deno,
    supabase: VERSIONS.supabase,
  };
  const files = [...PAGES, ".ci/run", ".github/workflows/ci.yml"];
  let found = 0;
  for (const path of files) {
    const text = await Deno.readTextFile(new URL(path, PROJECT));
    for (
      const [said, name = "", version] of text.matchAll(
        /(?<![\w/-])(deno|supabase)@(\d[\w.]*\d)/g,
      )
    ) {
      found++;
      assertEquals(version, expected[name], `${path}: ${said}`);
    }
    const [, lowest] = text.match(/Deno\s+(\d[\d.]*\d)\s+or\s+later/) ?? [];
    if (lowest) assertEquals(lowest, VERSIONS.lowestDeno, path);
  }
  assert(found >= 8, `only ${found} found`);
});

/** Every TypeScript file of the project, except generated ones. */
async function* sources(
  folder = PROJECT,
): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name.startsWith(".") || name === "node_modules") continue;
    if (isDirectory) yield* sources(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield new URL(name, folder);
  }
}
