/** Numbers are the same in the tests, in the code and on the pages. */
import { assertEquals } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { LIMITS } from "../support/limits.ts";
import { PREFLIGHT } from "../support/answers.ts";

const FOLDER = FUNCTION_FOLDER_PATH;
const [earliestMs, latestMs] = LIMITS.lastAttemptMs;
const MAX_AGE_S = Number(PREFLIGHT.headers?.["access-control-max-age"]);
const PORT = Number(new URL(LOCAL_SERVICE.API_URL).port);

/** Files, and the texts around each number in them: `#` is where it stands. */
const PLACES: Record<string, [number: number, text: string][]> = {
  "README.md": [
    [LIMITS.bodyBytes / 1024, "More than # KiB of body"],
    [LIMITS.bodyPieces, "more than # pieces"],
    [LIMITS.bodyMs / 1000, "completely within # s"],
    [LIMITS.name, "more than # code points"],
    [LIMITS.budgetMs / 1000, "takes over # s"],
    [MAX_AGE_S, "Access-Control-Max-Age: #"],
    [PORT, "127.0.0.1:#"],
  ],
  "supabase/README.md": [
    [LIMITS.bodyBytes / 1024, "cut off at # KiB"],
    [LIMITS.bodyPieces, "at most # pieces"],
    [LIMITS.bodyMs / 1000, "be whole within # seconds"],
    [LIMITS.budgetMs / 1000, "No response within # s"],
    [LIMITS.budgetMs / 1000, "below the lookup's # s"],
    [LIMITS.attempts, "at most # attempts"],
    [LIMITS.budgetMs / 1000, `${LIMITS.attempts} attempts in # s`],
    [LIMITS.responseMiB, "# MiB"],
  ],
  "supabase/existing-table.md": [
    [LIMITS.budgetMs / 1000, "longer than # seconds fail"],
  ],
  [`${FOLDER}README.md`]: [
    [LIMITS.name, "1 to # code points"],
    [LIMITS.budgetMs / 1000, "and # seconds when the database hangs"],
    [PORT, "127.0.0.1:#"],
  ],
  [`${FOLDER}openapi.yaml`]: [
    [LIMITS.bodyBytes / 1024, "At most # KiB"],
    [LIMITS.bodyBytes / 1024, "More than # KiB"],
    [LIMITS.bodyPieces, "more than # pieces"],
    [LIMITS.bodyMs / 1000, "completely within # s"],
    [LIMITS.name, "maxLength: #"],
    [LIMITS.name, "Up to #"],
    [LIMITS.budgetMs / 1000, "took more than # seconds"],
    [PORT, "127.0.0.1:#"],
    [MAX_AGE_S, 'const: "#"'],
  ],
  [`${FOLDER}body.ts`]: [
    [LIMITS.bodyBytes / 1024, "MAX_BODY_BYTES = # *"],
    [LIMITS.bodyBytes / 1024, "longer than # KiB"],
    [LIMITS.bodyPieces, "MAX_BODY_PIECES = #"],
    [LIMITS.bodyPieces, "more than # pieces"],
    [LIMITS.bodyMs, "MAX_BODY_MS = #"],
    [LIMITS.bodyMs / 1000, "within # s"],
    [
      LIMITS.discardedBytes / 1024 / 1024,
      "MAX_DISCARDED_BYTES = # * 1024 * 1024",
    ],
    [LIMITS.discardedMs, "MAX_DISCARDED_MS = #"],
  ],
  [`${FOLDER}request.ts`]: [[LIMITS.name, "{1,#}"]],
  [`${FOLDER}activation_keys.ts`]: [[LIMITS.budgetMs, "LOOKUP_BUDGET_MS = #"]],
  [`${FOLDER}retries.ts`]: [
    [earliestMs, "LAST_AT_MS = #"],
    [latestMs - earliestMs, "JITTER_MS = #"],
  ],
  [`${FOLDER}data_api.ts`]: [[
    LIMITS.responseMiB,
    "MAX_LENGTH = # * 1024 * 1024",
  ]],
  [`${FOLDER}responses.ts`]: [[MAX_AGE_S, '"Access-Control-Max-Age": "#"']],
  "supabase/migrations/20261121000000_create_activation_keys.sql": [
    [LIMITS.name, "between 1 and #"],
  ],
};

for (const [path, numbers] of Object.entries(PLACES)) {
  Deno.test(`numbers: ${path}`, async () => {
    const text = await Deno.readTextFile(new URL(path, PROJECT));
    // Prose is wrapped.
    const line = text.replaceAll(/\n\s*(\* )?/g, " ");
    for (const [number, around] of numbers) {
      const [before = "", after = ""] = around.split("#").map(RegExp.escape);
      const said = line.matchAll(RegExp(`${before}([\\d.,_]*\\d)${after}`, "g"))
        .map(([, digits = ""]) => Number(digits.replaceAll(/[_,]/g, "")));
      assertEquals([...new Set(said)], [number], around);
    }
  });
}
