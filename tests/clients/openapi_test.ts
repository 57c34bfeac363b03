/** `openapi.yaml` is valid, says what the contract says, and makes clients that tell a 499 by type. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { npx, run } from "../../tools/command.ts";
import { FUNCTION_URL_PATH as PATH, PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import * as CONTRACT from "../support/contract.ts";
import { readPage } from "../support/pages.ts";
import { resultOf } from "./scenarios.ts";

const FILE = "supabase/clients/openapi.yaml";
const document = await readPage(FILE);

Deno.test("openapi: the contract's responses and limits, and what each status asks", () => {
  const { LIMITS, PREFLIGHT: _, ...expected } = CONTRACT;
  const { responses } = parse(document).paths[PATH].post;
  for (const { status, body } of Object.values(expected)) {
    const said = JSON.stringify(responses[status].content);
    assertStringIncludes(said, JSON.stringify(body));
  }
  for (const status of Object.keys(responses)) {
    assertEquals(responses[status]["x-result"], resultOf(status), status);
  }
  assertStringIncludes(document, `${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(document, `within ${LIMITS.bodyMs / 1000} seconds`);
  assertStringIncludes(document, `than ${LIMITS.lookupMs / 1000} seconds`);
  assertStringIncludes(document, `maxLength: ${LIMITS.name}`);
});

Deno.test("openapi: no lint", async () => {
  // A warning is an error. No licence has been chosen.
  const lint =
    `lint ${FILE} --extends=recommended-strict --skip-rule=info-license`;
  const options = { cwd: PROJECT, env: { REDOCLY_TELEMETRY: "off" } };
  const redocly = `@redocly/cli@${VERSIONS.redocly}`;
  const { success, stdout, stderr } = await npx(
    redocly,
    lint.split(" "),
    options,
  );
  assert(success, stdout + stderr);
});

/** The commands that generate clients, and how their bodies are typed by status. */
const CLIENTS = {
  "openapi-typescript openapi.yaml -o client.ts --root-types --root-types-no-schema-prefix":
    `import createClient from "openapi-fetch";
    export const { POST } = createClient<API.paths>();
    type All = API.paths["${PATH}"]["post"]["responses"];
    type Bodies = { [S in keyof All]: All[S]["content"]["application/json"] };`,
  "orval -i openapi.yaml -o client.ts --client fetch --fail-on-warnings":
    `type Told = Awaited<ReturnType<typeof API.checkUsernameActive>>;
    type Bodies = { [T in Told as T["status"]]: T["data"] };`,
};

for (const [generate, types] of Object.entries(CLIENTS)) {
  Deno.test(`openapi: the client of ${generate}`, async () => {
    const { generators: dependencies, generatorsDate } = VERSIONS;
    // Deno runs all of it: the generators want a newer Node than this project.
    const make = `deno install -q --minimum-dependency-age=${generatorsDate} ` +
      `&& ${generate} && tsc add_on.ts --noEmit --strict --target es2022 --module preserve`;
    await using folder = await makeTempFolder({
      "openapi.yaml": document,
      "add_on.ts": `import * as API from "./client";\n${types}
        export const inactive = (body: Bodies[499]): API.NotActive => body;
        // @ts-expect-error: no answer does not say that the user is not active.
        export const noAnswer = (body: Bodies[500]): API.NotActive => body;`,
      "package.json": JSON.stringify({ dependencies, scripts: { make } }),
    });
    const made = await run(Deno.execPath(), ["task", "-q", "make"], {
      cwd: folder.url,
    });
    assert(made.success, made.stdout + made.stderr);
  });
}
