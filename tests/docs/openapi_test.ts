/** `openapi.yaml` is sound, and a client can be generated from it. */
import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, FUNCTION_PATH } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { npx, run } from "../../tools/run.ts";

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

Deno.test("openapi: a generated client knows the body of every status", async () => {
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
    export const inactive: Body<499>["error"] = "User not found for project";
    export const active: Body<200>["success"] = true;
    export const wrong: Body<400>["error"][] = [
      "Missing username or project_id",
      "Invalid username or project_id",
      "Invalid JSON",
    ];
    // @ts-expect-error: another text
    export const other: Body<499>["error"] = "something else";
    // @ts-expect-error: no text
    export const number: Body<400>["error"] = 7;
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
