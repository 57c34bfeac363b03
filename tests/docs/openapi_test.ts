/** `openapi.yaml` is sound, agrees with the README, and a client can be generated from it. */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, FUNCTION_PATH } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { npx, run } from "../../tools/command.ts";
import * as ANSWERS from "../support/answers.ts";
import { DESCRIBED, described } from "../support/openapi.ts";
import { readPage } from "../support/pages.ts";
import { resultOf, RESULTS, STATUSES } from "./results.ts";

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

    // Exactly these texts, and no \`string\`, \`unknown\` or \`any\`, which would take others as well.
    export const active: Body<200>["success"] = true;
    ${
    ERRORS.filter(({ status }) => status !== ANSWERS.METHOD_NOT_ALLOWED.status)
      .map(({ status, error }, index) => `
      export const error${index}: Body<${status}>["error"] = "${error}";
      // @ts-expect-error: another text
      export const other${index}: Body<${status}>["error"] = "something else";`)
      .join("")
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
  const expected = ERRORS.map(({ status, error }) => `${status} ${error}`);
  const schemas = [];
  const written = [];
  for (const status of DESCRIBED.filter((status) => status >= 400)) {
    const content = described(status).content?.["application/json"];
    const { error } = content?.schema.properties ?? {};
    const { example, examples = {} } = content ?? {};
    for (const message of error?.oneOf ?? [error]) {
      schemas.push(`${status} ${message?.const}`);
    }
    for (const { value } of [{ value: example }, ...Object.values(examples)]) {
      if (value) written.push(`${status} ${value.error}`);
    }
  }
  assertEquals(schemas.sort(), expected.sort());
  assertEquals(written.sort(), expected);
});

Deno.test("openapi: it asks the same of an add-on as README.md, for every status", async () => {
  const rows = (await readPage("README.md"))
    .matchAll(/^\| (\d{3}[\d, ]*|Any other)\b.*\| `"([a-z ]+)"` +\|/gm)
    .flatMap(([, statuses = "", result]) =>
      statuses.trim().split(", ").map((status) => [status, result])
    );
  assertEquals(
    rows.toArray().sort(),
    [...Object.entries(RESULTS), ["Any other", "no answer"]],
  );
  // No POST gets a 204.
  const statuses = STATUSES.filter((one) => one !== ANSWERS.PREFLIGHT.status);
  assertEquals(
    statuses.map((one) => [one, described(one)["x-result"]]),
    statuses.map((one) => [one, resultOf(one)]),
  );
});
