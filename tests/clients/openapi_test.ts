/** `clients/openapi.yaml` is valid, and says what the contract says. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { FUNCTION_URL_PATH } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { readPage } from "../support/pages.ts";

const { LIMITS, LOOKUP: _, ...RESPONSES } = CONTRACT;
const document = await readPage("clients/openapi.yaml");

Deno.test("openapi: a valid document", async () => {
  const { valid, errors } = await new Validator().validate(document);
  assert(valid, JSON.stringify(errors));
});

Deno.test("openapi: the contract's responses and limits", () => {
  const { responses } = parse(document).paths[FUNCTION_URL_PATH].post;
  for (const { status, body } of Object.values(RESPONSES)) {
    const said = JSON.stringify(responses[status]?.content ?? null);
    assertStringIncludes(said, JSON.stringify(body), `status ${status}`);
  }
  assertStringIncludes(document, `maxLength: ${LIMITS.name}`);
  assertStringIncludes(document, `than ${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(document, `within ${LIMITS.bodyMs / 1000} s`);
  assertStringIncludes(document, `than ${LIMITS.lookupMs / 1000} s`);
});
