/** The documentation matches the project. */
import { assert, assertEquals } from "@std/assert";
import { globSync } from "node:fs";
import { PROJECT } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { VERSIONS } from "../../tools/versions.ts";
import * as CONTRACT from "../support/contract.ts";
import {
  CALLER_PAGE,
  EXISTING_TABLE,
  INCIDENTS,
  PAGES,
  readPage,
} from "../support/pages.ts";

const { LIMITS, ...RESPONSES } = CONTRACT;
const LOOKUP_S = LIMITS.lookupMs / 1000;
const PORT = Number(new URL(LOCAL_SERVICE.API_URL).port);

/** Each number, a text around it (`#` is where it stands), and the pages that have that text. */
const NUMBERS: [number: number, text: string, ...pages: string[]][] = [
  [LIMITS.bodyBytes / 1024, "# KiB", "README.md"],
  [LIMITS.bodyPieces, "# pieces", "README.md"],
  [LIMITS.bodyMs / 1000, "completely within # s", "README.md"],
  [LIMITS.name, "# code points", "README.md"],
  [LOOKUP_S, "takes over # s", "README.md"],
  [LOOKUP_S, "attempts in # s", INCIDENTS],
  [LOOKUP_S, "longer than # seconds fail", EXISTING_TABLE],
  [LIMITS.attempts, "at most # attempts", INCIDENTS],
  [LIMITS.responseMiB, "# MiB", INCIDENTS],
  [PORT, "127.0.0.1:#", "README.md", CALLER_PAGE],
];

for (const [number, around, ...pages] of NUMBERS) {
  Deno.test(`page: ${around.replace("#", `${number}`)}`, async () => {
    const [before = "", after = ""] = around.split("#").map(RegExp.escape);
    for (const page of pages) {
      // Prose is wrapped.
      const said = (await readPage(page)).replaceAll(/\s+/g, " ")
        .matchAll(RegExp(`${before}(\\d[\\d.,]*)${after}`, "g"))
        .map(([, digits = ""]) => Number(digits.replaceAll(",", "")));
      assertEquals([...new Set(said)], [number], page);
    }
  });
}

for (const page of PAGES) {
  Deno.test(`page: every link of ${page} leads somewhere`, async () => {
    const links = (await readPage(page)).matchAll(/\]\((?!http)([^)]+)\)/g);
    for (const [, target = ""] of links) {
      const url = new URL(target, new URL(page, PROJECT));
      await Deno.stat(url);
      if (!url.hash) continue;
      const headings = (await Deno.readTextFile(url)).matchAll(/^#+ (.+)$/gm)
        .map(([, title = ""]) =>
          title.toLowerCase().replaceAll(/[^\w\s-]/g, "").replaceAll(" ", "-")
        );
      assert(headings.toArray().includes(url.hash.slice(1)), target);
    }
  });
}

Deno.test("page: CONTRIBUTING.md names every task and environment variable", async () => {
  const page = await readPage("CONTRIBUTING.md");
  const { tasks } = JSON.parse(await readPage("deno.json"));
  const paths = globSync("{supabase,tests,tools}/**/*.ts", { cwd: PROJECT });
  const code = (await Promise.all(paths.map(readPage))).join("");
  const read = code.matchAll(/env\.get\("([A-Z_]+)"/g)
    .map(([, name]) => `\`${name}\``).toArray();
  const some = ["`SUPABASE_URL`", "`EDGE_DENO`", "`CHROMIUM`"];
  assertEquals(some.filter((name) => !read.includes(name)), []);
  const rows = Object.keys(tasks).map((task) => `| \`${task}\``);
  assertEquals([...rows, ...read].filter((text) => !page.includes(text)), []);
});

Deno.test("page: README.md has the responses of the contract", async () => {
  const said = (await readPage("README.md"))
    .matchAll(/^\|.*\| (\d{3})\b[^|]*\| +(`\{.*\}`|none) +\|$/gm)
    .map(([, status, body]) => `${status} ${body}`).toArray();
  const expected = Object.values(RESPONSES).map(({ status, body }) =>
    `${status} ${body === null ? "none" : `\`${JSON.stringify(body)}\``}`
  );
  assertEquals(said.sort(), expected.sort());
});

Deno.test("page: every version of Deno and of the CLI is the one of tools/versions.ts", async () => {
  const paths = [...PAGES, ".ci/run", ".github/workflows/ci.yml"];
  const said = (await Promise.all(paths.map(readPage))).join("")
    .replaceAll(/\s+/g, " ")
    .match(/(?<![\w/-])(deno|supabase)@\d[\w.]*\d|Deno \d[\d.]* or later/g);
  const { deno, supabase, lowestDeno } = VERSIONS;
  const expected =
    `Deno ${lowestDeno} or later,deno@${deno},supabase@${supabase}`;
  assertEquals([...new Set(said)].sort().join(), expected);
});
