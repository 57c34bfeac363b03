/** `openapi.yaml` is sound, agrees with the README, and a client can be generated from it. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, FUNCTION_PATH } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { npx, run } from "../../tools/command.ts";
import * as ANSWERS from "../support/answers.ts";
import {
  assertDescribed,
  errorsOfOpenapi,
  resultOfOpenapi,
} from "../support/openapi.ts";
import { resultOf, resultsOfReadme, STATUSES } from "./results.ts";

/** The errors of the contract: status and message. */
const ERRORS = Object.values(ANSWERS).flatMap(({ status, body }) =>
  body && "error" in body ? [{ status, error: body.error }] : []
);

const DOCUMENT = fileURLToPath(new URL("openapi.yaml", FUNCTION_FOLDER));

Deno.test("openapi: the document has no lint", async () => {
  // Strict: a warning is an error.
  const { success, stdout, stderr } = await npx(
    `@redocly/cli@${VERSIONS.redocly}`,
    [
      "lint",
      DOCUMENT,
      "--extends=recommended-strict",
      // No licence has been chosen.
      "--skip-rule=info-license",
      // A preflight cannot be wrong.
      "--skip-rule=operation-4xx-response",
    ],
    {
      env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    },
  );
  assert(success, stdout + stderr);
});

Deno.test("openapi: a generated client knows the body of every status that a POST gets", async () => {
  await using folder = await makeTempFolder();
  const file = (name: string) => fileURLToPath(new URL(name, folder.url));
  const generated = await npx(
    `openapi-typescript@${VERSIONS.openapiTypescript}`,
    [DOCUMENT, "--output", file("client.ts")],
  );
  assert(generated.success, generated.stdout + generated.stderr);

  const client = `
    import type { paths } from "./client.ts";
    type Answers = paths["${FUNCTION_PATH}"]["post"]["responses"];
    type Body<Status extends keyof Answers> = Answers[Status] extends
      { content: { "application/json": infer Content } } ? Content : never;

    // Exactly these texts, and no \`unknown\` or \`any\`, which would take 7 as well.
    export const active: Body<200>["success"] = true;
    ${
    ERRORS.filter(({ status }) => status !== ANSWERS.METHOD_NOT_ALLOWED.status)
      .map(({ status, error }, index) => `
      export const error${index}: Body<${status}>["error"] = "${error}";
      // @ts-expect-error: another text
      export const other${index}: Body<${status}>["error"] = "something else";
      // @ts-expect-error: no text
      export const number${index}: Body<${status}>["error"] = 7;`).join("")
  }
  `;
  await Deno.writeTextFile(file("use.ts"), client);
  const checked = await run(Deno.execPath(), [
    "check",
    "--no-config",
    "--no-lock",
    file("use.ts"),
  ]);
  assert(checked.success, checked.stderr);
});

Deno.test("openapi: its errors are those of the contract, in schemas and in examples", () => {
  const { schemas, examples } = errorsOfOpenapi();
  const sorted = (errors: { status: number; error: unknown }[]) =>
    errors.map(({ status, error }) => `${status} ${error}`).sort();
  assertEquals(sorted(schemas), sorted(ERRORS));
  assertEquals(sorted(examples), sorted(ERRORS));
});

Deno.test("openapi: what others send is not described as the function's", () => {
  for (const status of [404, 429, 503]) {
    const headers = { "Retry-After": "1", "sb-error-code": "x" };
    const response = new Response(null, { status, headers });
    assertThrows(() => assertDescribed(response, ""), Error, `${status}`);
  }
});

Deno.test("openapi: it asks the same of an add-on as README.md, for every status", async () => {
  const resultOfReadme = await resultsOfReadme();
  assertEquals(
    STATUSES.map((one) => [one, resultOfOpenapi(one), resultOfReadme(one)]),
    STATUSES.map((one) => [one, resultOf(one), resultOf(one)]),
  );
});
