/** The pages match the project. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { LIMITS, RESPONSES } from "../support/contract.ts";
import { PAGES, readPage } from "../support/pages.ts";

for (const page of PAGES) {
  Deno.test(`pages: every link of ${page} leads somewhere`, async () => {
    const text = (await readPage(page)).replaceAll(/^```.*?^```$/gms, "");
    const links = text.matchAll(/\]\((?!http)([^)]+)\)/g);
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

Deno.test("pages: every npx runs the versions that the tests run", async () => {
  const tools = [`supabase@${VERSIONS.supabase}`, `deno@${VERSIONS.deno}`];
  const npx = /npx (?:-\S+ )?((?:deno|supabase)\S*)/g;
  for (const page of [...PAGES, ".github/workflows/ci.yml", ".ci/run"]) {
    for (const [, tool = ""] of (await readPage(page)).matchAll(npx)) {
      assert(tools.includes(tool), `${tool} on ${page}`);
    }
  }
});

Deno.test("pages: README.md has the contract's responses and limits", async () => {
  const page = await readPage("README.md");
  const rows = page.matchAll(/^\|.* \| (\d{3}) +\| (none|`{.*}`) +\|$/gm);
  const said = Array.from(rows, ([, status, body]) => `${status} ${body}`);
  const responses = RESPONSES.map(({ status, body }) =>
    `${status} ${body ? `\`${JSON.stringify(body)}\`` : "none"}`
  );
  assertEquals(new Set(said), new Set(responses));
  assertStringIncludes(page, `over ${LIMITS.name} code points`);
  assertStringIncludes(page, `within ${LIMITS.bodyMs / 1000} s`);
  assertStringIncludes(page, `More than ${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(page, `over ${LIMITS.lookupMs / 1000} s`);
});
