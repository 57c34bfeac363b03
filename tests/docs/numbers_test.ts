/** Numbers in the documentation match the code. */
import { assert, assertEquals } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";

/** Takes the numbers behind a pattern's group out of a file. */
async function numbers(path: string, pattern: RegExp): Promise<number[]> {
  const text = await Deno.readTextFile(new URL(path, PROJECT));
  // Prose is wrapped, and numbers have separators.
  return text.replaceAll(/\s+/g, " ").matchAll(pattern)
    .map(([, number = ""]) => Number(number.replaceAll(/[_,]/g, ""))).toArray();
}

async function constant(file: string, name: string): Promise<number> {
  const pattern = new RegExp(`const ${name} = ([\\d_]+)`, "g");
  const [number] = await numbers(FUNCTION_FOLDER_PATH + file, pattern);
  if (number === undefined) throw new Error(`${file} has no ${name}`);
  return number;
}

const README = "README.md";
const OPERATORS = "supabase/README.md";
const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
const OPENAPI = `${FUNCTION_FOLDER_PATH}openapi.yaml`;

/** Each number: its value in the code, and where the documentation repeats it. */
const NUMBERS: [
  what: string,
  inCode: () => Promise<number>,
  places: [path: string, pattern: RegExp][],
][] = [
  ["the body limit, in KiB", () => constant("body.ts", "MAX_BODY_BYTES"), [
    [README, /More than (\d+) KiB of body/g],
    [OPERATORS, /cut off at (\d+) KiB/g],
    [OPENAPI, /(?:At most|More than) (\d+) KiB/g],
  ]],
  ["the length of a name", async () => {
    const [length] = await numbers(
      `${FUNCTION_FOLDER_PATH}request.ts`,
      /\{1,(\d+)\}/g,
    );
    return length ?? NaN;
  }, [
    [README, /more than (\d+) code points/g],
    [OPENAPI, /(?:maxLength:|Up to) (\d+)/g],
    [
      "supabase/migrations/20261121000000_create_activation_keys.sql",
      /between 1 and (\d+)/g,
    ],
  ]],
  [
    "the lookup's budget, in seconds",
    async () => await constant("activation_keys.ts", "LOOKUP_BUDGET_MS") / 1000,
    [
      [README, /takes over (\d+) s/g],
      [CALLERS, /and (\d+) seconds when the database hangs/g],
      [OPERATORS, /No response within (\d+) s/g],
      [OPERATORS, /longer than (\d+) seconds fail/g],
      [OPERATORS, /below the lookup's (\d+) s/g],
      [OPENAPI, /took more than (\d+) seconds/g],
    ],
  ],
  [
    "how long a body may take, in seconds",
    async () => await constant("body.ts", "MAX_BODY_MS") / 1000,
    [
      [README, /not whole within (\d+) s/g],
      [OPERATORS, /be whole within (\d+) seconds/g],
    ],
  ],
  ["the pieces of a body", () => constant("body.ts", "MAX_BODY_PIECES"), [
    [README, /more than ([\d,]+) pieces/g],
    [OPERATORS, /at most ([\d,]+) pieces/g],
  ]],
  [
    "how much of the Data API's response is read, in MiB",
    async () => await constant("data_api.ts", "MAX_LENGTH") / 1024,
    [[OPERATORS, /([\d.]+) MiB/g]],
  ],
  [
    "the last attempt, in seconds",
    async () => await constant("retries.ts", "LAST_AT_MS") / 1000,
    [[OPERATORS, /the last time ([\d.]+) to/g]],
  ],
  ["the latest attempt, in seconds", async () => {
    const last = await constant("retries.ts", "LAST_AT_MS");
    return (last + await constant("retries.ts", "JITTER_MS")) / 1000;
  }, [[OPERATORS, /the last time [\d.]+ to ([\d.]+) seconds/g]]],
  [
    "the local port",
    () => Promise.resolve(Number(new URL(LOCAL_SERVICE.API_URL).port)),
    [
      [README, /127\.0\.0\.1:(\d+)/g],
      [CALLERS, /127\.0\.0\.1:(\d+)/g],
      [OPENAPI, /127\.0\.0\.1:(\d+)/g],
    ],
  ],
  ["how long a preflight's answer may be kept, in seconds", async () => {
    const [seconds] = await numbers(
      `${FUNCTION_FOLDER_PATH}responses.ts`,
      /"Access-Control-Max-Age": "(\d+)"/g,
    );
    return seconds ?? NaN;
  }, [[OPENAPI, /const: "(\d+)"/g]]],
];

for (const [what, inCode, places] of NUMBERS) {
  Deno.test(`numbers: ${what}`, async () => {
    const number = await inCode();
    for (const [path, pattern] of places) {
      const said = await numbers(path, pattern);
      assert(said.length > 0, `${path} does not say it: ${pattern}`);
      for (const other of said) assertEquals(other, number, path);
    }
  });
}
