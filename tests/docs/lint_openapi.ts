/** Lints `openapi.yaml` with Redocly CLI, in its strict form: a warning is an error. */
import { FUNCTION_FOLDER } from "../stack/function_process.ts";
import { NPX } from "../deploy/cli.ts";

const REDOCLY = "@redocly/cli@2.77.0";

console.error(`Getting ${REDOCLY} from npm, the first time ...`);
const { code } = await new Deno.Command(NPX, {
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
}).spawn().status;
Deno.exit(code);
