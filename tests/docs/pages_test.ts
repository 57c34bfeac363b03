/** The pages match the project. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { PAGES, readPage } from "../support/pages.ts";

const { LIMITS, LOOKUP: _, ...RESPONSES } = CONTRACT;

// A page that is not found would be left out of the tests without a word.
Deno.test("pages: the tests find all of them", () => assertEquals(PAGES.length, 8));

for (const page of PAGES) {
  Deno.test(`pages: every link of ${page} to a file or heading here leads somewhere`, async () => {
    // For example `](docs/operate.md#deploy)`.
    const links = (await readPage(page)).matchAll(/\]\((?!http)([^)\s]+)\)/g);
    for (const [, target = ""] of links) {
      const url = new URL(target, new URL(page, PROJECT));
      await Deno.stat(url);
      const heading = url.hash.slice(1).replaceAll("-", "\\W+");
      if (!heading) continue;
      const pattern = new RegExp(`^#+ ${heading}\\W*$`, "im");
      assertMatch(await Deno.readTextFile(url), pattern, target);
    }
  });
}

Deno.test("pages: README.md has the contract's responses and limits", async () => {
  const page = await readPage("README.md");
  // For example `| The lookup fails | 500 | `{"error":"Database error"}` |`.
  const rows = page.matchAll(/^\|.* \| (\d{3}) +\| `?(none|{.*})`? +\|$/gm);
  const listed = Array.from(rows, ([, status, body]) => `${status} ${body}`);
  const responses = Object.values(RESPONSES).map(({ status, body }) =>
    `${status} ${body ? JSON.stringify(body) : "none"}`
  );
  assertEquals(new Set(listed), new Set(responses));
  assertStringIncludes(page, `over ${LIMITS.name} code points`);
  assertStringIncludes(page, `within ${LIMITS.bodyMs / 1000} s`);
  assertStringIncludes(page, `More than ${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(page, `over ${LIMITS.lookupMs / 1000} s`);
});

Deno.test("pages: each task has a row in CONTRIBUTING.md, and each task that a page names is in deno.json", async () => {
  const tasks = Object.keys(JSON.parse(await readPage("deno.json")).tasks).sort();
  const [top = ""] = (await readPage("CONTRIBUTING.md")).split("\n## ");
  const rows = top.matchAll(/^\| `([a-z:]+)` +\|/gm);
  assertEquals(Array.from(rows, ([, task]) => task).sort(), tasks);
  for (const page of PAGES) {
    for (const [, task = ""] of (await readPage(page)).matchAll(/(?:task |`(?=test:))([a-z:]+)/g)) {
      assert(tasks.includes(task), `${page}: ${task}`);
    }
  }
});
