/** The pages match the project. */
import { assert, assertEquals } from "@std/assert";
import { marked, type Tokens } from "marked";
import { PROJECT } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { PAGES, readPage } from "../support/pages.ts";

const { LIMITS: _, ...RESPONSES } = CONTRACT;

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
  const [specified = [], decided = [], asked] = await readTables("README.md");
  const rows = [...specified, ...decided].map((row) => row.slice(1).join(" "));
  const responses = Object.values(RESPONSES).map(({ status, body }) =>
    `${status} ${body ? `\`${JSON.stringify(body)}\`` : "none"}`
  );
  assertEquals(new Set(rows), new Set(responses));
  const [results] = await readTables("supabase/clients/README.md");
  const said = /\d{3}|Any|`"[a-z ]+"`/g;
  assertEquals(`${asked}`.match(said), `${results}`.match(said));
});
