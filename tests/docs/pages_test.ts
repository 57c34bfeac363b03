/** The pages match the project. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { OPERATORS_PAGES } from "../support/operators.ts";
import { PAGES, readBlocks, readPage } from "../support/pages.ts";

const { LIMITS, LOOKUP: _, ...RESPONSES } = CONTRACT;

// A page that is not found would be left out of the tests without a word.
Deno.test("pages: the tests find all of them", () =>
  assertEquals(PAGES.toSorted(), [
    ".github/SECURITY.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/incidents.md",
    "docs/operate.md",
    "examples/add-on/README.md",
    "examples/back-end/README.md",
  ]));

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

/**
 * What an operator fills into SQL and commands. No name and no key of a customer is among them, and
 * no content of a file, because such a text could act as SQL or as a command.
 */
const PLACEHOLDERS = [
  ...["project_id", "created_at"], // The operator's own table has given them.
  ...["ref", "service", "commit", "file", "old file", "new file"],
];

for (const page of OPERATORS_PAGES) {
  Deno.test(`pages: no SQL and no command of ${page} has a placeholder for a customer's text`, async () => {
    for (const language of ["sql", "sh"]) {
      for (const block of await readBlocks(page, language)) {
        for (const [, name = ""] of block.matchAll(/<([^<>]*)>/g)) {
          assert(PLACEHOLDERS.includes(name), `<${name}> in ${block}`);
        }
      }
    }
  });
}

// Another text than a UUID could change what an address asks for.
Deno.test("pages: an address in code has no placeholder but <ref>, <service>, <key> and <project_id>", async () => {
  for (const page of PAGES) {
    // An address ends at a blank or a quotation mark, which a placeholder may contain.
    const addresses = (await readPage(page)).match(
      /(https?:\/|\/rest|\/functions)\/(<[^<>]*>|[^\s"`])*/g,
    );
    for (const address of addresses ?? []) {
      for (const [, name = ""] of address.matchAll(/<([^<>]*)>/g)) {
        assert(["ref", "service", "key", "project_id"].includes(name), `<${name}> in ${address}`);
      }
    }
  }
});

Deno.test("pages: examples/back-end/first_use.ts is tested with the function's packages, which examples/back-end/README.md names", async () => {
  const importsOf = async (path: string) => JSON.parse(await readPage(path)).imports;
  const { "@supabase/supabase-js": supabase, zod } = await importsOf("deno.json");
  const functions = await importsOf(`${FUNCTION_FOLDER_PATH}deno.json`);
  assertEquals([supabase, zod], [functions["@supabase/supabase-js"], functions.zod]);
  const page = await readPage("examples/back-end/README.md");
  for (const name of [supabase, zod]) assertStringIncludes(page, name.replace("npm:", ""));
});
