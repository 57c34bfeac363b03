/** The pages, `docs/openapi.yaml` and `supabase/config.toml` match the project. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "@std/toml";
import { CHECK_PATH, LOCAL_SERVICE, PROJECT, SEEDED } from "../../tools/project.ts";
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

/** What stands in each row of the contract in README.md, and the row's response. */
const ROWS = [
  { when: "exactly this `curr_user`", response: RESPONSES.ACTIVE },
  { when: "No record has both", response: RESPONSES.NOT_FOUND },
  { when: "is missing: no lookup", response: RESPONSES.MISSING },
  { when: "The lookup fails", response: RESPONSES.DATABASE_ERROR },
  { when: "no body, or the JSON is not an object", response: RESPONSES.MISSING },
  { when: '`null` or `""`', response: RESPONSES.MISSING },
  { when: "wrong type, or `project_id` is not a UUID", response: RESPONSES.INVALID },
  { when: `over ${NAME}`, response: RESPONSES.INVALID },
  { when: "U+0000 or a lone surrogate", response: RESPONSES.INVALID },
  { when: "not valid UTF-8, or not valid JSON", response: RESPONSES.INVALID_JSON },
  { when: `breaks off, or is not whole within ${BODY_S}`, response: RESPONSES.TIMEOUT },
  { when: `More than ${SIZE}`, response: RESPONSES.TOO_LARGE },
  { when: "`Allow: POST, OPTIONS`", response: RESPONSES.METHOD_NOT_ALLOWED },
  { when: "`Access-Control-Max-Age: 86400`", response: RESPONSES.PREFLIGHT },
  { when: "rejects the lookup, or sends a malformed response", response: RESPONSES.DATABASE_ERROR },
  { when: "the row of another user or product", response: RESPONSES.DATABASE_ERROR },
  { when: `takes over ${LOOKUP_S}`, response: RESPONSES.DATABASE_ERROR },
];

Deno.test("pages: README.md has the contract, row by row", async () => {
  const page = await readPage("README.md");
  // For example `| The lookup fails | 500 | `{"error":"Database error"}` |`.
  const rows = Array.from(page.matchAll(/^\|.* \| \d{3} +\| .*/gm), ([row]) => row);
  assertEquals(rows.length, ROWS.length);
  for (const [n, { when, response: { status, body } }] of ROWS.entries()) {
    assertStringIncludes(rows[n]!, when);
    const json = body ? `\`${JSON.stringify(body)}\`` : "none";
    assertStringIncludes(rows[n]!.replaceAll(/ +/g, " "), `| ${status} | ${json} |`);
  }
  assertStringIncludes(page, "over 4,096 pieces gets 413");
});

Deno.test("openapi.yaml: it is a valid document", async () =>
  assertEquals(await new Validator().validate(TEXT), { valid: true }));

type Example = { value: unknown };
// The schema of the request is tested in `request_test.ts`.
Deno.test("openapi.yaml: it has the contract's responses to a POST, its limits, and the local stack", () => {
  const { responses } = OPENAPI.paths[CHECK_PATH].post;
  const statuses = ["200", "400", "408", "413", "499", "500", "default"];
  assertEquals(Object.keys(responses).sort(), statuses);
  for (const status of statuses.slice(0, -1)) {
    const { schema, example, examples } = responses[status].content["application/json"];
    const shown = example ? [example] : Object.values<Example>(examples).map(({ value }) => value);
    const bodies = Object.values(RESPONSES)
      .filter((response) => `${response.status}` === status).map(({ body }) => body);
    assertEquals(new Set(shown), new Set(bodies), `examples of ${status}`);
    const name = status === "200" ? "Active" : "ErrorMessage";
    assertEquals(schema.$ref, `#/components/schemas/${name}`);
    const matches = getSchema(name);
    for (const body of bodies) assert(matches(body), `${status}: ${JSON.stringify(body)}`);
    for (const other of [{}, { success: false }, { error: 1 }]) assert(!matches(other), status);
  }
  // The first 10 s are those that an add-on waits.
  const numbers = ["10 s", SIZE, BODY_S, SIZE, LOOKUP_S, NAME];
  assertEquals(TEXT.match(/\d+ (s\b|KiB|code points)/g)?.slice(), numbers);
  assertEquals(OPENAPI.servers[1].url, LOCAL_SERVICE.API_URL);
  // The request's example is that of README.md, which gets 200.
  const { username, project_id } = OPENAPI.components.schemas.ActivationCheck.properties;
  assertEquals({ username: username.example, project_id: project_id.example }, SEEDED);
});

Deno.test("config.toml: `supabase start` has the port of the local stack, and its seed is a file", async () => {
  const { api, db } = parse(await readPage("supabase/config.toml"));
  assertEquals(`http://127.0.0.1:${api.port}`, LOCAL_SERVICE.API_URL);
  assertEquals(db.seed.sql_paths, ["./seed.sql"]);
  await readPage("supabase/seed.sql");
});
