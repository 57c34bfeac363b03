/**
 * The secret keys: which variable has them, and how one is replaced while the function runs. The
 * function runs in a process of its own, and asks a Data API that takes only some of the keys.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { startFunction } from "../../tools/function_process.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { DATABASE_ERROR, NOT_FOUND } from "../support/contract.ts";
import { askAt, assertResponse } from "../support/requests.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

/** The keys that the Data API takes, those that it was asked with, and over which connections. */
let valid: string[] = [];
let asked: string[] = [];
const ports = new Set<number>();
/** The Data API answers once it was asked this often. So it decides which lookups are under way. */
let lookups = 1;
let hasAsked = Promise.withResolvers<void>();
const dataApi = serveOnLoopback(async (query, { remoteAddr }) => {
  const key = query.headers.get("apikey")!;
  if (asked.push(key) === lookups) hasAsked.resolve();
  ports.add(remoteAddr.port);
  await hasAsked.promise;
  if (valid.includes(key)) return Response.json([]);
  return Response.json({ message: "Invalid API key" }, { status: 401 });
});
Deno.test.afterAll(() => dataApi[Symbol.asyncDispose]());

/** SUPABASE_SECRET_KEYS beside a legacy key; and the keys that a lookup asks with if none is valid. */
const ENVIRONMENTS = [
  { secretKeys: '{"b":"B","default":"A","c":"C"}', asks: ["A", "B", "C"] },
  { secretKeys: '{"b":"B"}', asks: ["B"] },
  { secretKeys: '{"default":null,"b":"","c":"C"}', asks: ["C"] },
  { secretKeys: '{"default":""}', asks: ["legacy"] }, // As self-hosted Supabase sets it.
  { secretKeys: "", asks: ["legacy"] },
];

for (const { secretKeys, asks } of ENVIRONMENTS) {
  Deno.test(`secret keys: of ${secretKeys || "no list"} and a legacy key, one lookup asks with ${asks}; all are rejected, which logs one line`, async () => {
    const env = { SUPABASE_SECRET_KEYS: secretKeys, SUPABASE_SERVICE_ROLE_KEY: "legacy" };
    await using edgeFunction = await startFunction(dataApi.url, { env });
    [valid, asked] = [[], []];
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

/** What is missing in the environment, and what the function's error names. */
const MISSING = [
  { env: { SUPABASE_URL: "" }, names: "SUPABASE_URL" },
  {
    env: { SUPABASE_SECRET_KEYS: '{"default":""}' },
    names: "SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY",
  },
];

for (const { env, names } of MISSING) {
  Deno.test(`secret keys: without ${names}, the function does not start, and says so`, async () => {
    const start = () => startFunction(dataApi.url, { env });
    await assertRejects(start, Error, `cannot start: it needs the variable ${names}.`);
  });
}

/** What happens to the keys A, B and C, one after the other; and how lookups then ask. */
const CHANGES = [
  { when: "all keys are valid", valid: ["A", "B", "C"], asks: ["A"], response: NOT_FOUND },
  { when: "A is revoked", valid: ["B", "C"], asks: ["A", "B"], response: NOT_FOUND },
  { when: "A stays revoked", valid: ["B", "C"], asks: ["B"], response: NOT_FOUND },
  { when: "only A is valid", valid: ["A"], asks: ["B", "C", "A"], response: NOT_FOUND },
  {
    // All have asked with A before the first 401 arrives. If each of them moved on by one key, the
    // last one would leave another key than B.
    when: "A is revoked, which 41 lookups notice at once",
    lookups: 41,
    valid: ["B"],
    asks: [...Array(41).fill("A"), ...Array(41).fill("B")],
    response: NOT_FOUND,
  },
  { when: "B is still valid", valid: ["B"], asks: ["B"], response: NOT_FOUND },
  { when: "all keys are revoked", valid: [], asks: ["B", "C", "A"], response: DATABASE_ERROR },
  { when: "only C is valid", valid: ["C"], asks: ["B", "C"], response: NOT_FOUND },
];

Deno.test("secret keys: while the function runs", async (test) => {
  const env = { SUPABASE_SECRET_KEYS: '{"b":"B","default":"A","c":"C"}' };
  await using edgeFunction = await startFunction(dataApi.url, { env });
  for (const { when, asks, response, ...change } of CHANGES) {
    const name = `${when} → each lookup gets ${response.status}, queries in all: ${asks.length}`;
    await test.step(name, async () => {
      ({ valid, lookups = 1 } = change);
      asked = [];
      hasAsked = Promise.withResolvers();
      ports.clear();
      const ask = () => assertResponse(askAt(edgeFunction.url, PRODUCT, "Amelia"), response);
      await Promise.all(Array.from({ length: lookups }, ask));
      assertEquals(asked, asks);
      assert(ports.size <= lookups, `${ports.size} connections, of which some are made for a key`);
    });
  }
});
