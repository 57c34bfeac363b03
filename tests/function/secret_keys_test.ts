/**
 * The secret keys: which variable has them, and how one is replaced while the function runs. The
 * function runs in a process of its own, and asks a Data API that takes only some of the keys.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { startFunction } from "../../tools/function_process.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { askAt } from "../support/requests.ts";

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

/** What the platform sets, and the keys with which a lookup then asks if none of them is valid. */
const ENVIRONMENTS = [
  {
    when: "there are secret keys and a legacy key",
    env: {
      SUPABASE_SECRET_KEYS: '{"b":"B","default":"A","c":"C"}',
      SUPABASE_SERVICE_ROLE_KEY: "L",
    },
    asks: ["A", "B", "C"],
  },
  {
    when: "there is one secret key",
    env: { SUPABASE_SECRET_KEYS: '{"b":"B"}', SUPABASE_SERVICE_ROLE_KEY: "L" },
    asks: ["B"],
  },
  {
    when: "there is no secret key",
    env: { SUPABASE_SECRET_KEYS: "{}", SUPABASE_SERVICE_ROLE_KEY: "L" },
    asks: ["L"],
  },
  {
    when: "there is only the variable of the legacy key",
    env: { SUPABASE_SECRET_KEYS: "", SUPABASE_SERVICE_ROLE_KEY: "L" },
    asks: ["L"],
  },
];

for (const { when, env, asks } of ENVIRONMENTS) {
  Deno.test(`secret keys: ${when} → all being rejected, one lookup asks with ${asks}, and logs one line`, async () => {
    await using edgeFunction = await startFunction(dataApi.url, { env });
    [valid, asked] = [[], []];
    const before = edgeFunction.output().length;
    const response = await askAt(edgeFunction.url, PRODUCT, "Amelia");
    await response.bytes();
    assertEquals(response.status, 500);
    assertEquals(asked, asks);
    const log = edgeFunction.output().slice(before).replace(/\d+}/, "0}");
    assertEquals(
      log,
      '{"event":"lookup_failed","code":"http_401","status":401,"duration_ms":0}\n',
    );
  });
}

/** What is missing in the environment, and what the function's error names. */
const MISSING = [
  { env: { SUPABASE_URL: "" }, names: "SUPABASE_URL" },
  {
    env: { SUPABASE_SECRET_KEYS: "{}" },
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
  { when: "all keys are valid", valid: ["A", "B", "C"], lookups: 1, status: 499, asks: ["A"] },
  { when: "A is revoked", valid: ["B", "C"], lookups: 1, status: 499, asks: ["A", "B"] },
  { when: "A stays revoked", valid: ["B", "C"], lookups: 1, status: 499, asks: ["B"] },
  { when: "only A is valid", valid: ["A"], lookups: 1, status: 499, asks: ["B", "C", "A"] },
  {
    // All have asked with A before the first 401 arrives.
    when: "A is revoked, which 40 lookups notice at once",
    valid: ["B"],
    lookups: 40,
    status: 499,
    asks: [...Array(40).fill("A"), ...Array(40).fill("B")],
  },
  { when: "B is still valid", valid: ["B"], lookups: 1, status: 499, asks: ["B"] },
  { when: "all keys are revoked", valid: [], lookups: 1, status: 500, asks: ["B", "C", "A"] },
  { when: "only C is valid", valid: ["C"], lookups: 1, status: 499, asks: ["B", "C"] },
];

Deno.test("secret keys: while the function runs", async (test) => {
  const env = { SUPABASE_SECRET_KEYS: '{"b":"B","default":"A","c":"C"}' };
  await using edgeFunction = await startFunction(dataApi.url, { env });
  for (const { when, status, asks, ...change } of CHANGES) {
    const name = `${when} → each lookup gets ${status}, after ${asks.length} queries in all`;
    await test.step(name, async () => {
      ({ valid, lookups } = change);
      asked = [];
      hasAsked = Promise.withResolvers();
      ports.clear();
      const ask = async () => {
        const response = await askAt(edgeFunction.url, PRODUCT, "Amelia");
        await response.bytes();
        return response.status;
      };
      const statuses = await Promise.all(Array.from({ length: lookups }, ask));
      assertEquals(statuses, Array(lookups).fill(status));
      assertEquals(asked, asks);
      assert(ports.size <= lookups, `${ports.size} connections, of which some are made for a key`);
    });
  }
});
