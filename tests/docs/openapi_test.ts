/** `openapi.yaml` by the strict rules of Redocly CLI, where a warning is an error. */
import { assert } from "@std/assert";
import { NPX } from "../../tools/npx.ts";
import { FUNCTION_FOLDER } from "../../tools/project.ts";

const REDOCLY = "@redocly/cli@2.77.0";

Deno.test("openapi: the document has no lint", async () => {
  const { success, stdout, stderr } = await new Deno.Command(NPX, {
    args: [
      "--yes",
      REDOCLY,
      "lint",
      "openapi.yaml",
      "--extends=recommended-strict",
      // No licence has been chosen.
      "--skip-rule=info-license",
      // A preflight cannot be wrong.
      "--skip-rule=operation-4xx-response",
    ],
    cwd: FUNCTION_FOLDER,
    env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  }).output();
  assert(
    success,
    new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr),
  );
});
