/**
 * Which secret keys the function takes from its environment, and when it does not start.
 * (`attempts_test.ts` tests how one key takes the place of another while the function runs.)
 */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { readEnvironment } from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/function_process.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { DATABASE_ERROR } from "../support/contract.ts";
import { askAt, assertResponse } from "../support/requests.ts";

/** Reads an environment that has these variables, and no others. */
function read(variables: Record<string, string>) {
  for (const name of ["SUPABASE_URL", "SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY"]) {
    Deno.env.delete(name);
  }
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
  return readEnvironment();
}

const SUPABASE_URL = "https://abcdefghijklmnopqrst.supabase.co";

/** Values of SUPABASE_SECRET_KEYS, beside a legacy key; and the secret keys that result. */
const KEYS = [
  { list: '{"b":"B","default":"A","c":"C"}', results: ["A", "B", "C"] },
  { list: '{"b":"B"}', results: ["B"] },
  { list: '{"default":null,"b":"","c":"C"}', results: ["C"] },
  { list: '{"default":""}', results: ["legacy"] }, // As self-hosted Supabase sets it.
  { list: "", results: ["legacy"] },
  { list: '{"default":" ","b":"\\tB\\r\\n"}', results: ["B"] }, // White space at the ends is cut off.
];

for (const { list, results } of KEYS) {
  Deno.test(`environment: of ${list || "no list"} and a legacy key → ${results}`, () => {
    const keys = { SUPABASE_SECRET_KEYS: list, SUPABASE_SERVICE_ROLE_KEY: "legacy" };
    assertEquals(read({ SUPABASE_URL, ...keys }), { url: SUPABASE_URL, secretKeys: results });
  });
}

const MALFORMED = "SUPABASE_SECRET_KEYS is not a JSON object whose values are texts or null.";
const UNUSABLE = "SUPABASE_SECRET_KEYS has a secret key that no HTTP header can carry.";
const NO_KEY = "neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY has a secret key.";

/** Lists of secret keys that are rejected, and the error, which quotes no value. */
const WRONG = [
  { when: "no list, and no legacy key", list: "", error: NO_KEY },
  { when: "a list of an empty key", list: '{"default":""}', error: NO_KEY },
  { when: "a key that is not in JSON", list: "sb_secret_1", error: MALFORMED },
  { when: "a JSON text", list: '"sb_secret_1"', error: MALFORMED },
  { when: "a JSON array", list: '["sb_secret_1"]', error: MALFORMED },
  { when: "a number in the place of a key", list: '{"sb_secret_1":2}', error: MALFORMED },
  { when: "null", list: "null", error: MALFORMED },
  { when: "a key with a blank in it", list: '{"default":"A","b":"sb secret"}', error: UNUSABLE },
  { when: "a key with a line break in it", list: '{"b":"sb_\\nsecret"}', error: UNUSABLE },
  { when: "a key with a letter beyond ASCII", list: '{"b":"sb_é"}', error: UNUSABLE },
];

/** Fails unless reading throws exactly this error. */
async function assertCannotStart(variables: Record<string, string>, error: string) {
  const { message } = await assertRejects(() => Promise.try(read, variables), Error, error);
  assertEquals(message, `check-username-active cannot start: ${error}`);
}

for (const { when, list, error } of WRONG) {
  Deno.test(`environment: ${when} → an error that names the variable`, () =>
    assertCannotStart({ SUPABASE_URL, SUPABASE_SECRET_KEYS: list }, error));
}

Deno.test("environment: a legacy key with a blank in it → an error that names its variable", () => {
  const error = "SUPABASE_SERVICE_ROLE_KEY has a secret key that no HTTP header can carry.";
  return assertCannotStart({ SUPABASE_URL, SUPABASE_SERVICE_ROLE_KEY: "a b" }, error);
});

for (const variables of [{}, { SUPABASE_URL: "" }]) {
  Deno.test(`environment: ${JSON.stringify(variables)} and a secret key → an error`, () => {
    const keys = { SUPABASE_SECRET_KEYS: '{"default":"A"}' };
    return assertCannotStart({ ...keys, ...variables }, "SUPABASE_URL is missing.");
  });
}

Deno.test("environment: a lookup asks with all keys, in their order, and logs one line", async () => {
  const asked: string[] = [];
  await using dataApi = serveOnLoopback((query) => {
    asked.push(query.headers.get("apikey")!);
    return Response.json({ message: "Invalid API key" }, { status: 401 });
  });
  const env = { SUPABASE_SECRET_KEYS: '{"b":"B","default":"A"}' };
  await using edgeFunction = await startFunction(dataApi.url, { env });
  const before = edgeFunction.output().length;
  const product = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
  await assertResponse(askAt(edgeFunction.url, product, "Amelia"), DATABASE_ERROR);
  assertEquals(asked, ["A", "B"]);
  const log = edgeFunction.output().slice(before);
  const line = /^{"event":"lookup_failed","code":"http_401","status":401,"duration_ms":\d+}\n$/;
  assertMatch(log, line);
});
