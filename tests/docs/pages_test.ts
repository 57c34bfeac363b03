/** The pages match the project. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { marked, type Tokens } from "marked";
import { PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";
import * as CONTRACT from "../support/contract.ts";
import { PAGES, readPage } from "../support/pages.ts";

const { LIMITS, ...RESPONSES } = CONTRACT;
const LOOKUP_S = LIMITS.lookupMs / 1000;
const OPERATE = "supabase/README.md";

/** Numbers of the contract, as a page tells them. */
const NUMBERS: [page: string, told: string][] = [
  ["README.md", `${LIMITS.bodyBytes / 1024} KiB`],
  ["README.md", `${LIMITS.bodyPieces.toLocaleString("en")} pieces`],
  ["README.md", `within ${LIMITS.bodyMs / 1000} s`],
  ["README.md", `${LIMITS.name} code points`],
  ["README.md", `over ${LOOKUP_S} s`],
  [OPERATE, `1 to ${LIMITS.name} characters`],
  [OPERATE, `${LIMITS.attempts} attempts in ${LOOKUP_S} s`],
  [OPERATE, `${LIMITS.responseMiB} MiB`],
];
for (const [page, told] of NUMBERS) {
  Deno.test(`pages: ${page} says "${told}"`, async () =>
    assertStringIncludes(await readPage(page), told));
}

for (const page of PAGES) {
  Deno.test(`pages: every link of ${page} leads somewhere`, async () => {
    const links = (await readPage(page)).matchAll(/\]\((?!http)([^)]+)\)/g);
    for (const [, target = ""] of links) {
      const url = new URL(target, new URL(page, PROJECT));
      await Deno.stat(url);
      if (!url.hash) continue;
      const anchors = (await Deno.readTextFile(url)).matchAll(/^#+ (.+)$/gm)
        .map(([, title = ""]) => title.replaceAll(/[^\w\s-]/g, ""))
        .map((title) => `#${title.toLowerCase().replaceAll(" ", "-")}`);
      assert([...anchors].includes(url.hash), target);
    }
  });
}

/** Returns the rows of a page's tables. */
const readTables = async (page: string) =>
  marked.lexer(await readPage(page)).filter((token) => token.type === "table")
    .map((table) => (table as Tokens.Table).rows)
    .map((rows) => rows.map((row) => row.map(({ text }) => text)));

Deno.test("pages: README.md has the contract's responses, and the callers' results", async () => {
  const [spec = [], decided = [], asked] = await readTables("README.md");
  const rows = [...spec, ...decided].map((row) => row.slice(1).join(" "));
  const responses = Object.values(RESPONSES).map(({ status, body }) =>
    `${status} ${body ? `\`${JSON.stringify(body)}\`` : "none"}`
  );
  assertEquals(new Set(rows), new Set(responses));
  const [results] = await readTables("supabase/clients/README.md");
  const said = /\d{3}|Any|`"[a-z ]+"`/g;
  assertEquals(`${asked}`.match(said), `${results}`.match(said));
});

Deno.test("pages: versions of Deno and of the CLI are those of tools/versions.ts", async () => {
  const paths = [...PAGES, ".ci/run", ".github/workflows/ci.yml"];
  const text = (await Promise.all(paths.map(readPage))).join("");
  const said = text.match(/\b(deno|supabase)@[\d.]+|Deno [\d.]+ or later/g);
  const { deno, supabase, lowestDeno } = VERSIONS;
  const pins = `Deno ${lowestDeno} or later,deno@${deno},supabase@${supabase}`;
  assertEquals(said?.filter((it) => !pins.split(",").includes(it)), []);
});
