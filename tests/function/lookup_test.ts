/** What becomes of a lookup: its outcome, how often the Data API is asked, and what is logged. */
import { assertEquals } from "@std/assert";
import { LOOKUP } from "../support/contract.ts";
import * as lookups from "../support/lookups.ts";

const { html, KILLED, ROW, runLookups } = lookups;
const { project_id, curr_user } = LOOKUP; // Each lookup here asks for "Zoë & Co." and this product.

/** A list of rows. The row of another user or product must not count, nor must a row beside it. */
const list = (...rows: unknown[]) => ({ status: 200, body: rows });
const OWN = { project_id, curr_user };
const AMELIAS = { project_id, curr_user: "Amelia" };
const IN_CAPITALS = { project_id, curr_user: "ZOË & CO." };
const DECOMPOSED = { project_id, curr_user: curr_user.normalize("NFD") };
const OTHER_PRODUCTS = { project_id: "b41c7e08-52d9-4a63-8e1f-7d90ac35b216", curr_user };
/** An error of PostgREST, with any code. */
const error = (status: number, code: unknown) => ({ status, body: { code } });

/** What comes back, and the code that is then logged. */
type Failure = { when: string; answer: lookups.Answer; code: string };

/** A list of rows of exactly this product and this user is an answer. A lookup has 5,000 ms. */
const SOUND = [
  { when: "a row", answer: ROW, outcome: "active" },
  { when: "a row after 4,999 ms", answer: { ...ROW, afterMs: 4_999 }, outcome: "active" },
  { when: "an empty list", answer: list(), outcome: "not_found" },
];

for (const { when, answer, outcome } of SOUND) {
  Deno.test(`lookup: ${when} → ${outcome}, after one attempt`, async () => {
    const seen = await runLookups([answer]);
    assertEquals([seen.outcome, seen.queries.length, seen.log], [outcome, 1, []]);
  });
}

/** Failures that may pass, so that the Data API is asked again, six times at most. */
const TRANSIENT: Failure[] = [
  { when: "a drop", answer: "drop", code: "unreachable" },
  // Deno may take a list for whole although the connection broke off.
  { when: "a cut list", answer: { status: 200, body: "[" }, code: "malformed" },
  { when: "a 502 page", answer: html(502), code: "http_502" },
  { when: "a 503 error", answer: KILLED, code: "57P01" },
  { when: "a 504 page", answer: html(504), code: "http_504" },
  { when: "a 522 page", answer: html(522), code: "http_522" }, // Cloudflare's.
  { when: "a 530 page", answer: html(530), code: "http_530" },
  // What PostgREST sends for the queries in flight when PostgreSQL crashes.
  { when: "a 400 with an empty code", answer: error(400, ""), code: "http_400" },
  { when: "a PGRST303", answer: lookups.JWT_401, code: "PGRST303" },
  { when: "Amelia's row", answer: list(AMELIAS), code: "malformed" },
  { when: "ZOË's row", answer: list(IN_CAPITALS), code: "malformed" },
  { when: "the row of e and a diaeresis", answer: list(DECOMPOSED), code: "malformed" },
  { when: "another product's row", answer: list(OTHER_PRODUCTS), code: "malformed" },
  { when: "a row, and Amelia's", answer: list(OWN, AMELIAS), code: "malformed" },
  { when: "a row, and null", answer: list(OWN, null), code: "malformed" },
  { when: "a row in no list", answer: { status: 200, body: OWN }, code: "malformed" },
];

for (const { when, answer, code } of TRANSIENT) {
  Deno.test(`lookup: ${when}, and then a row → active, after two attempts`, async () => {
    const seen = await runLookups([answer, ROW]);
    assertEquals([seen.outcome, seen.queries.length, seen.log], ["active", 2, []]);
  });
  Deno.test(`lookup: ${when} each time → ${code} is logged, after six attempts`, async () => {
    const seen = await runLookups([answer]);
    assertFailed(seen, { attempts: 6, code, answer });
  });
}

/** Failures that are final: the lookup ends, although the next answer would be a row. */
const FINAL: Failure[] = [
  // Silence is waited for until the 5 s are over.
  { when: "silence", answer: "silence", code: "timeout" },
  { when: "part of a list", answer: { status: 206, body: [] }, code: "http_206" },
  // This code is transient only with a 401, and an empty code only with a 400.
  { when: "a 400 PGRST303", answer: error(400, "PGRST303"), code: "PGRST303" },
  { when: "a 400 page", answer: html(400), code: "http_400" },
  { when: "a 429 page", answer: html(429), code: "http_429" },
  { when: "a 401 with an empty code", answer: error(401, ""), code: "http_401" },
  // White space may stand before JSON.
  { when: "a 404", answer: { status: 404, body: ' \n{"code":"PGRST205"}' }, code: "PGRST205" },
  // supabase-js would take these for a success.
  { when: "a 404 list", answer: { status: 404, body: " \n[]" }, code: "http_404" },
  { when: "a 404 list of rows", answer: { status: 404, body: [{}] }, code: "http_404" },
  { when: "an empty 404", answer: { status: 404, body: "" }, code: "http_404" },
  { when: "a 500 with null", answer: { status: 500, body: null }, code: "http_500" },
  { when: "a 501 page", answer: html(501), code: "http_501" },
  // A code is logged only if it has the form of a code of PostgreSQL or PostgREST.
  { when: "PGRSTX00", answer: error(500, "PGRSTX00"), code: "PGRSTX00" },
  { when: "a lower-case code", answer: error(400, "42p01"), code: "http_400" },
  { when: "PGRST1000", answer: error(400, "PGRST1000"), code: "http_400" },
  { when: "a code and a line break", answer: error(400, "42501\n"), code: "http_400" },
  { when: "a code in a list", answer: error(400, ["42501"]), code: "http_400" },
];

for (const { when, answer, code } of FINAL) {
  Deno.test(`lookup: ${when} → ${code} is logged, after one attempt`, async () => {
    const seen = await runLookups([answer, ROW]);
    assertFailed(seen, { attempts: 1, code, answer });
  });
}

// The 503 says more about the cause than the silence.
Deno.test("lookup: a 503, and then silence → the 503 is logged, after two attempts", async () => {
  const seen = await runLookups([KILLED, "silence", ROW]);
  assertFailed(seen, { attempts: 2, code: "57P01", answer: KILLED });
});

/** Fails unless there is one line, with this code and the status of the answer: 0 for none. */
function assertFailed(
  seen: Awaited<ReturnType<typeof runLookups>>,
  { attempts, code, answer }: { attempts: number; code: string; answer: lookups.Answer },
) {
  const status = typeof answer === "string" ? 0 : answer.status;
  const line = { event: "lookup_failed", code, status, duration_ms: seen.tookMs };
  assertEquals([seen.outcome, seen.queries.length], ["lookup_failed", attempts]);
  assertEquals(seen.log, [JSON.stringify(line)]);
}

// `LOOKUP.path` has the address of the query.
Deno.test("lookup: asks for the one row, with the secret key, and follows no redirect", async () => {
  const { queries: [query] } = await runLookups([ROW]);
  const { url, method, headers, redirect } = query!.request;
  assertEquals(method + url, "GET" + lookups.SUPABASE_URL + LOOKUP.path);
  assertEquals(headers.get("apikey"), "key 1");
  assertEquals(headers.get("Authorization"), "Bearer key 1");
  assertEquals(redirect, "manual");
});
