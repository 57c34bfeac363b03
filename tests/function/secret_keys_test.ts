/**
 * From which variable the function takes its secret keys. The function runs in a process of its own.
 * `attempts_test.ts` tests how one key takes the place of another while the function runs.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { startFunction } from "../../tools/function_process.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { DATABASE_ERROR } from "../support/contract.ts";
import { askAt, assertResponse } from "../support/requests.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

/** The keys with which the Data API was asked. It rejects each of them. */
let asked: string[] = [];
const dataApi = serveOnLoopback((query) => {
  asked.push(query.headers.get("apikey")!);
  return Response.json({ message: "Invalid API key" }, { status: 401 });
});
Deno.test.afterAll(() => dataApi[Symbol.asyncDispose]());

/** The value of SUPABASE_SECRET_KEYS, beside a legacy key; and the keys with which a lookup asks. */
const ENVIRONMENTS = [
  { secretKeys: '{"b":"B","default":"A","c":"C"}', asks: ["A", "B", "C"] },
  { secretKeys: '{"b":"B"}', asks: ["B"] },
  { secretKeys: '{"default":null,"b":"","c":"C"}', asks: ["C"] },
  { secretKeys: '{"default":""}', asks: ["legacy"] }, // As self-hosted Supabase sets it.
  { secretKeys: "", asks: ["legacy"] },
];

for (const { secretKeys, asks } of ENVIRONMENTS) {
  // All are rejected, which logs one line.
  Deno.test(`secret keys: of ${secretKeys || "no list"} and a legacy key, a lookup asks with ${asks}`, async () => {
    const env = { SUPABASE_SECRET_KEYS: secretKeys, SUPABASE_SERVICE_ROLE_KEY: "legacy" };
    await using edgeFunction = await startFunction(dataApi.url, { env });
    asked = [];
    const before = edgeFunction.output().length;
    await assertResponse(askAt(edgeFunction.url, PRODUCT, "Amelia"), DATABASE_ERROR);
    assertEquals(asked, asks);
    const log = edgeFunction.output().slice(before);
    assertMatch(
      log,
      /^{"event":"lookup_failed","code":"http_401","status":401,"duration_ms":\d+}\n$/,
    );
  });
}

/** Environments with which the function does not start, and the error, which quotes no value. */
const MALFORMED = "SUPABASE_SECRET_KEYS is not a JSON object whose values are texts or null.";
const NO_KEY = "neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY has a secret key.";
const WRONG = [
  { env: { SUPABASE_URL: "" }, error: "SUPABASE_URL is missing." },
  { env: { SUPABASE_SECRET_KEYS: '{"default":""}' }, error: NO_KEY },
  { env: { SUPABASE_SECRET_KEYS: "sb_secret_1" }, error: MALFORMED },
  { env: { SUPABASE_SECRET_KEYS: '"sb_secret_1"' }, error: MALFORMED },
  { env: { SUPABASE_SECRET_KEYS: '["sb_secret_1"]' }, error: MALFORMED },
  { env: { SUPABASE_SECRET_KEYS: '{"sb_secret_1":2}' }, error: MALFORMED },
  { env: { SUPABASE_SECRET_KEYS: "null" }, error: MALFORMED },
];

for (const { env, error } of WRONG) {
  Deno.test(`secret keys: with ${JSON.stringify(env)}, the function does not start`, async () => {
    const start = () => startFunction(dataApi.url, { env });
    const { message } = await assertRejects(start, Error, `active cannot start: ${error}`);
    assert(!message.includes("sb_secret_1"), message);
  });
}
