/** The documentation matches the project. */
import { assert, assertEquals } from "@std/assert";
import { globSync } from "node:fs";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { screen } from "../../tools/stack/screen.ts";
import { VERSIONS } from "../../tools/versions.ts";
import * as ANSWERS from "../support/answers.ts";
import { LIMITS } from "../support/limits.ts";
import {
  CALLERS,
  codeBlock,
  EXISTING_TABLE,
  OPERATORS,
  PAGES,
  readPage,
} from "../support/pages.ts";

const OPENAPI = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
const BUDGET_S = LIMITS.budgetMs / 1000;
const PORT = Number(new URL(LOCAL_SERVICE.API_URL).port);

/** Each number, a text around it (`#` is where it stands), and the pages that have that text. */
const NUMBERS: [number: number, text: string, ...pages: string[]][] = [
  [LIMITS.bodyBytes / 1024, "# KiB", "README.md", OPERATORS, OPENAPI],
  [LIMITS.bodyPieces, "# pieces", "README.md", OPERATORS, OPENAPI],
  [LIMITS.bodyMs / 1000, "completely within # s", "README.md", OPENAPI],
  [LIMITS.bodyMs / 1000, "whole within # s", OPERATORS],
  [LIMITS.name, "# code points", "README.md", OPENAPI],
  [LIMITS.name, "1 to # code points", CALLERS],
  [LIMITS.name, "maxLength: #", OPENAPI],
  [BUDGET_S, "takes over # s", "README.md"],
  [BUDGET_S, "No response within # s", OPERATORS],
  [BUDGET_S, "below the lookup's # s", OPERATORS],
  [BUDGET_S, "attempts in # s", OPERATORS],
  [BUDGET_S, "longer than # seconds fail", EXISTING_TABLE],
  [BUDGET_S, "and # seconds when the database hangs", CALLERS],
  [BUDGET_S, "took more than # seconds", OPENAPI],
  [LIMITS.attempts, "at most # attempts", OPERATORS],
  [LIMITS.responseMiB, "# MiB", OPERATORS],
  [PORT, "127.0.0.1:#", "README.md", CALLERS, OPENAPI],
];

for (const [number, around, ...pages] of NUMBERS) {
  Deno.test(`page: ${around.replace("#", `${number}`)}`, async () => {
    const [before = "", after = ""] = around.split("#").map(RegExp.escape);
    for (const page of pages) {
      const text = await Deno.readTextFile(new URL(page, PROJECT));
      // Prose is wrapped.
      const said = text.replaceAll(/\s+/g, " ")
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

for (const page of ["README.md", CALLERS] as const) {
  Deno.test(`page: the requests of ${page} are those that start prints`, async () => {
    const printed = screen(LOCAL_SERVICE, "windows").split("\n");
    const commands = { sh: "curl", powershell: "Invoke-RestMethod" };
    for (const [language, command] of Object.entries(commands)) {
      const block = await codeBlock(page, language, LOCAL_SERVICE.API_URL);
      const line = printed.find((line) => line.startsWith(`${command} `));
      assertEquals(block.trim(), line);
    }
  });
}

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
  for (
    const path of globSync("{supabase,tests,tools}/**/*.ts", { cwd: PROJECT })
  ) {
    const source = await Deno.readTextFile(new URL(path, PROJECT));
    // Read outright, or by the helper of service_under_test.ts.
    const names = source.matchAll(/(?:env\.get|variable)\("([A-Z_]+)"/g);
    for (const [, name = ""] of names) read.add(name);
  }
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
  const { deno, supabase, lowestDeno } = VERSIONS;
  const expected = [`deno@${deno}`, `supabase@${supabase}`];
  const said = [];
  for (const path of [...PAGES, ".ci/run", ".github/workflows/ci.yml"]) {
    const text = await Deno.readTextFile(new URL(path, PROJECT));
    said.push(...text.match(/(?<![\w/-])(deno|supabase)@\d[\w.]*\d/g) ?? []);
    for (
      const [, lowest] of text.matchAll(/Deno\s+(\d[\d.]*\d)\s+or\s+later/g)
    ) {
      assertEquals(lowest, lowestDeno, path);
    }
  }
  assertEquals([...new Set(said)].sort(), expected);
});
