/** The pages, `docs/openapi.yaml` and `supabase/config.toml` match the project. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "@std/toml";
import { CHECK_PATH, LOCAL_SERVICE, PROJECT } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { getSchema, OPENAPI, TEXT } from "../support/openapi.ts";
import { PAGES, readPage } from "../support/pages.ts";

const { LIMITS, LOOKUP: _, ...RESPONSES } = CONTRACT;
/** The contract's limits, in the words of the pages. */
const [NAME, SIZE] = [`${LIMITS.name} code points`, `${LIMITS.bodyBytes / 1024} KiB`];
const [BODY_S, LOOKUP_S] = [`${LIMITS.bodyMs / 1000} s`, `${LIMITS.lookupMs / 1000} s`];

// A page that is not found would be left out of the tests without a word.
Deno.test("pages: the tests find all of them", () => assertEquals(PAGES.length, 9));

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
  const limits = [`over ${NAME}`, `within ${BODY_S}`, `More than ${SIZE}`, `over ${LOOKUP_S}`];
  for (const limit of limits) assertStringIncludes(page, limit);
});

/** Numbers of the add-on page's rules, as they stand in panel.js, which is tested. */
const NUMBERS = [
  { inCode: "ageS < 14 * DAY_S", onPage: "less than 14 days old" },
  { inCode: "let pauseS = 5;", onPage: "a pause of 5 s" },
  { inCode: "Math.min(2 * pauseS, 600)", onPage: "up to 10 min" },
  { inCode: "pauseS * (0.5 + Math.random())", onPage: "a random number from 0.5 to 1.5" },
  { inCode: "end(request.status), 10000)", onPage: "wait 10 s at most" },
];

Deno.test("pages: the add-on page has the contract's yes and no, and the numbers of panel.js", async () => {
  const page = await readPage("examples/add-on/README.md");
  const rows = page.matchAll(/^\| (\d{3}) +\| (\w+) +\|/gm); // For example `| 200 | Yes |`.
  const listed = Array.from(rows, ([, status, means]) => `${means}: ${status}`);
  const { ACTIVE, NOT_FOUND } = RESPONSES;
  assertEquals(listed, [`Yes: ${ACTIVE.status}`, `No: ${NOT_FOUND.status}`]);
  const panel = await readPage("examples/add-on/panel.js");
  for (const { inCode, onPage } of NUMBERS) {
    assertStringIncludes(panel, inCode);
    assertStringIncludes(page.replaceAll(/\s+/g, " "), onPage);
  }
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

Deno.test("openapi.yaml: it is a valid document", async () =>
  assertEquals(await new Validator().validate(TEXT), { valid: true }));

// The schema of the request is tested in `request_test.ts`.
Deno.test("openapi.yaml: it has the contract's responses to a POST, its limits, and the local stack", () => {
  const { responses } = OPENAPI.paths[CHECK_PATH].post;
  const statuses = ["200", "400", "408", "413", "499", "500", "default"];
  assertEquals(Object.keys(responses).sort(), statuses);
  for (const { status, body } of Object.values(RESPONSES)) {
    if (status === 204 || status === 405) continue; // Responses to other methods than POST.
    const { schema, ...examples } = responses[status].content["application/json"];
    assertStringIncludes(JSON.stringify(examples), JSON.stringify(body), `status ${status}`);
    const name = status === 200 ? "Active" : "ErrorMessage";
    assertEquals(schema.$ref, `#/components/schemas/${name}`);
    const matches = getSchema(name);
    const others = [{}, { success: false }, { error: 1 }];
    assertEquals([body, ...others].map((json) => matches(json)), [true, false, false, false]);
  }
  // The first 10 s are those that an add-on waits.
  const numbers = ["10 s", SIZE, BODY_S, SIZE, LOOKUP_S, NAME];
  assertEquals(TEXT.match(/\d+ (s\b|KiB|code points)/g)?.slice(), numbers);
  assertEquals(OPENAPI.servers[1].url, LOCAL_SERVICE.API_URL);
});

Deno.test("config.toml: `supabase start` has the port of the local stack, and its seed is a file", async () => {
  const { api, db } = parse(await readPage("supabase/config.toml"));
  assertEquals(`http://127.0.0.1:${api.port}`, LOCAL_SERVICE.API_URL);
  assertEquals(db.seed.sql_paths, ["./seed.sql"]);
  await readPage("supabase/seed.sql");
});
