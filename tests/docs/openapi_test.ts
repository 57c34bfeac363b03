/** `docs/openapi.yaml` is valid, and says what the contract says. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { CHECK_PATH, SEEDED } from "../../tools/project.ts";
import * as CONTRACT from "../support/contract.ts";
import { readPage } from "../support/pages.ts";

// A POST never gets the responses to other methods: a 405, or that of a preflight.
const { METHOD_NOT_ALLOWED: _405, PREFLIGHT: _204, ...OTHERS } = CONTRACT;
const { LIMITS, LOOKUP: _, ...RESPONSES } = OTHERS;
const document = await readPage("docs/openapi.yaml");

Deno.test("openapi.yaml: it is a valid document", async () =>
  assertEquals(await new Validator().validate(document), { valid: true }));

Deno.test("openapi.yaml: it has the contract's responses to a POST, and its limits", () => {
  const { paths, components } = parse(document);
  const { required, properties } = components.schemas.ActivationCheck;
  assertEquals(required, Object.keys(SEEDED));
  assertMatch(SEEDED.project_id, new RegExp(properties.project_id.pattern));
  const { responses } = paths[CHECK_PATH].post;
  const statuses = ["200", "400", "408", "413", "499", "500", "default"];
  assertEquals(Object.keys(responses).sort(), statuses);
  for (const { status, body } of Object.values(RESPONSES)) {
    const documented = JSON.stringify(responses[status]);
    assertStringIncludes(documented, JSON.stringify(body), `status ${status}`);
  }
  assertStringIncludes(document, `maxLength: ${LIMITS.name}`);
  assertStringIncludes(document, `than ${LIMITS.bodyBytes / 1024} KiB`);
  assertStringIncludes(document, `within ${LIMITS.bodyMs / 1000} s`);
  assertStringIncludes(document, `than ${LIMITS.lookupMs / 1000} s`);
});
