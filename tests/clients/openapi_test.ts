/** `openapi.yaml` says what the contract says, and makes a client that tells a 499 by its type. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { run } from "../../tools/command.ts";
import { FUNCTION_URL_PATH as PATH } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import * as CONTRACT from "../support/contract.ts";
import { readPage } from "../support/pages.ts";

const document = await readPage("supabase/clients/openapi.yaml");

Deno.test("openapi: the contract's responses and limits, and what each status asks", () => {
  const { LIMITS, PREFLIGHT: _, ...expected } = CONTRACT;
  const { responses } = parse(document).paths[PATH].post;
  for (const { status, body } of Object.values(expected)) {
    const said = JSON.stringify(responses[status].content);
    assertStringIncludes(said, JSON.stringify(body));
  }
  const asks = (result: string) =>
    Object.keys(responses).filter((it) => responses[it]["x-result"] === result);
  assertEquals([...asks("active"), ...asks("inactive")], ["200", "499"]);
  assertEquals(asks("no answer"), ["408", "500", "default"]);
  assertEquals(asks("mistake"), ["400", "405", "413"]);
  assertStringIncludes(document, `${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(document, `within ${LIMITS.bodyMs / 1000} seconds`);
  assertStringIncludes(document, `than ${LIMITS.lookupMs / 1000} seconds`);
  assertStringIncludes(document, `maxLength: ${LIMITS.name}`);
});

/** Compiles only if the generated types tell the body of a 499 from that of a 500. */
const ADD_ON = `
import { checkUsernameActive } from "./orval";
type Response = Awaited<ReturnType<typeof checkUsernameActive>>;
type Bodies = { [R in Response as R["status"]]: R["data"] };
export const notActive = (body: Bodies[499]): { error: string } => body;
// @ts-expect-error: the body of a 500 is another.
export const noAnswer = (body: Bodies[500]): Bodies[499] => body;`;

Deno.test("openapi: no lint, and a client that is generated from it", async () => {
  const { generator: dependencies, generatorDate, redocly } = VERSIONS;
  // `recommended-strict`: a warning is an error. `info-license`: none has been chosen. Deno runs
  // the generator, which wants a newer Node than this project.
  const make = `
    REDOCLY_TELEMETRY=off npx --yes @redocly/cli@${redocly} lint openapi.yaml \
      --extends=recommended-strict --skip-rule=info-license && \
    deno install -q --minimum-dependency-age=${generatorDate} && \
    orval -i openapi.yaml -o orval.ts --client fetch --fail-on-warnings && \
    tsc add_on.ts --noEmit --strict --target es2022 --module preserve`;
  await using folder = await makeTempFolder({
    "openapi.yaml": document,
    "add_on.ts": ADD_ON,
    "package.json": JSON.stringify({ dependencies, scripts: { make } }),
  });
  const options = { cwd: folder.url };
  const made = await run(Deno.execPath(), ["task", "make"], options);
  assert(made.success, made.stdout + made.stderr);
});
