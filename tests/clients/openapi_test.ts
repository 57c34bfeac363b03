/** `openapi.yaml` says what the contract says. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { FUNCTION_URL_PATH } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { readPage } from "../support/pages.ts";

const document = await readPage("supabase/clients/openapi.yaml");

Deno.test("openapi: the contract's responses and limits, and what each status asks", () => {
  const { LIMITS, LOOKUP: _lookup, PREFLIGHT: _preflight, ...expected } =
    CONTRACT;
  const { responses } = parse(document).paths[FUNCTION_URL_PATH].post;
  for (const { status, body } of Object.values(expected)) {
    const said = JSON.stringify(responses[status].content);
    assertStringIncludes(said, JSON.stringify(body));
  }
  const statusesOf = (result: string) =>
    Object.keys(responses).filter((it) => responses[it]["x-result"] === result);
  assertEquals(statusesOf("active"), ["200"]);
  assertEquals(statusesOf("inactive"), ["499"]);
  assertEquals(statusesOf("no answer"), ["408", "500", "default"]);
  assertEquals(statusesOf("mistake"), ["400", "405", "413"]);
  assertStringIncludes(document, `${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(document, `within ${LIMITS.bodyMs / 1000} seconds`);
  assertStringIncludes(document, `than ${LIMITS.lookupMs / 1000} seconds`);
  assertStringIncludes(document, `maxLength: ${LIMITS.name}`);
});

Deno.test("openapi: a sound document", async () => {
  const { valid, errors } = await new Validator().validate(document);
  assert(valid, JSON.stringify(errors));
});
