/** Numbers are the same in the tests, in the code and on the pages. */
import { assertEquals } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { LIMITS } from "../support/limits.ts";
import { PREFLIGHT } from "../support/answers.ts";

const README = "README.md";
const OPERATORS = "supabase/README.md";
const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
const OPENAPI = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
const BODY = `${FUNCTION_FOLDER_PATH}body.ts`;
const RETRIES = `${FUNCTION_FOLDER_PATH}retries.ts`;
const MIGRATION =
  "supabase/migrations/20261121000000_create_activation_keys.sql";

const [earliestMs, latestMs] = LIMITS.lastAttemptMs;

/** Each number, and where it stands. */
const NUMBERS: Record<string, [number, ...[path: string, pattern: RegExp][]]> =
  {
    "the body limit, in KiB": [
      LIMITS.bodyBytes / 1024,
      [BODY, /MAX_BODY_BYTES = (\d+) \*/g],
      [BODY, /longer than (\d+) KiB/g],
      [README, /More than (\d+) KiB of body/g],
      [OPERATORS, /cut off at (\d+) KiB/g],
      [OPENAPI, /(?:At most|More than) (\d+) KiB/g],
    ],
    "the pieces of a body": [
      LIMITS.bodyPieces,
      [BODY, /MAX_BODY_PIECES = ([\d_]+)/g],
      [BODY, /more than ([\d,]+) pieces/g],
      [README, /more than ([\d,]+) pieces/g],
      [OPERATORS, /at most ([\d,]+) pieces/g],
      [OPENAPI, /more than ([\d,]+) pieces/g],
    ],
    "how long a body may take, in milliseconds": [
      LIMITS.bodyMs,
      [BODY, /MAX_BODY_MS = ([\d_]+)/g],
    ],
    "the same in seconds": [
      LIMITS.bodyMs / 1000,
      [BODY, /within (\d+) s/g],
      [README, /not whole within (\d+) s/g],
      [OPERATORS, /be whole within (\d+) seconds/g],
      [OPENAPI, /whole within (\d+) s/g],
    ],
    "how much is discarded, in MiB": [
      LIMITS.discardedBytes / 1024 / 1024,
      [BODY, /MAX_DISCARDED_BYTES = (\d+) \* 1024 \* 1024/g],
    ],
    "for how long, in milliseconds": [
      LIMITS.discardedMs,
      [BODY, /MAX_DISCARDED_MS = ([\d_]+)/g],
    ],
    "the length of a name": [
      LIMITS.name,
      [`${FUNCTION_FOLDER_PATH}request.ts`, /\{1,(\d+)\}/g],
      [README, /more than (\d+) code points/g],
      [OPENAPI, /(?:maxLength:|Up to) (\d+)/g],
      [MIGRATION, /between 1 and (\d+)/g],
    ],
    "the lookup's budget, in seconds": [
      LIMITS.budgetMs / 1000,
      [
        `${FUNCTION_FOLDER_PATH}activation_keys.ts`,
        /LOOKUP_BUDGET_MS = (\d+)_000/g,
      ],
      [README, /takes over (\d+) s/g],
      [CALLERS, /and (\d+) seconds when the database hangs/g],
      [OPERATORS, /No response within (\d+) s/g],
      [OPERATORS, /longer than (\d+) seconds fail/g],
      [OPERATORS, /below the lookup's (\d+) s/g],
      [OPENAPI, /took more than (\d+) seconds/g],
    ],
    "the last attempt, in milliseconds": [
      earliestMs,
      [RETRIES, /LAST_AT_MS = ([\d_]+)/g],
    ],
    "how much later it may be": [
      latestMs - earliestMs,
      [RETRIES, /JITTER_MS = ([\d_]+)/g],
    ],
    "the last attempt, in seconds": [
      earliestMs / 1000,
      [OPERATORS, /the last time ([\d.]+) to/g],
    ],
    "its latest, in seconds": [
      latestMs / 1000,
      [OPERATORS, /the last time [\d.]+ to ([\d.]+) seconds/g],
    ],
    "how much of the Data API's response is read, in MiB": [
      1,
      [
        `${FUNCTION_FOLDER_PATH}data_api.ts`,
        /MAX_LENGTH = (\d+) \* 1024 \* 1024/g,
      ],
      [OPERATORS, /([\d.]+) MiB/g],
    ],
    "the local port": [
      Number(new URL(LOCAL_SERVICE.API_URL).port),
      [README, /127\.0\.0\.1:(\d+)/g],
      [CALLERS, /127\.0\.0\.1:(\d+)/g],
      [OPENAPI, /127\.0\.0\.1:(\d+)/g],
    ],
    "how long a preflight may be kept, in seconds": [
      Number(PREFLIGHT.headers?.["access-control-max-age"]),
      [
        `${FUNCTION_FOLDER_PATH}responses.ts`,
        /"Access-Control-Max-Age": "(\d+)"/g,
      ],
      [OPENAPI, /const: "(\d+)"/g],
    ],
  };

for (const [what, [number, ...places]] of Object.entries(NUMBERS)) {
  Deno.test(`numbers: ${what}`, async () => {
    const wrong = [];
    for (const [path, pattern] of places) {
      const text = await Deno.readTextFile(new URL(path, PROJECT));
      // Prose is wrapped, and numbers have separators.
      const said = text.replaceAll(/\n\s*(\* )?/g, " ").matchAll(pattern)
        .map(([, digits = ""]) => Number(digits.replaceAll(/[_,]/g, "")))
        .toArray();
      if (said.length === 0 || said.some((other) => other !== number)) {
        wrong.push(`${path} says ${said} for ${pattern}`);
      }
    }
    assertEquals(wrong, [], `The tests expect ${number}`);
  });
}
