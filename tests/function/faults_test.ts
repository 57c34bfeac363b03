/** What the function does when the Data API fails: a response in time, one log line, and no leak. */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { assert, assertEquals } from "@std/assert";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import {
  ACTIVE,
  DATABASE_ERROR,
  type Expected,
  LIMITS,
  NOT_FOUND,
} from "../support/contract.ts";
import { assertResponse, check } from "../support/requests.ts";
import {
  aRow,
  type Behaviour,
  first,
  loggedLines,
  noRow,
  productOf,
  respondWith,
  startFunctionOnStub,
} from "../support/data_api_stub.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const { SECRET_KEY } = LOCAL_SERVICE;

/**
 * A Data API that fails: what it does, and what becomes of the lookup. A text is a 500, and the code
 * and the status of its log line.
 */
type Fault = [name: string, behave: Behaviour, outcome: Expected | string];

const ROW = JSON.stringify({ project_id: PRODUCT });

const json = (status: number, body: unknown) =>
  respondWith(status, JSON.stringify(body));
const error = (status: number, code: string) =>
  json(status, { code, message: "x".repeat(100_000) });
const html = (status: number) =>
  respondWith(status, "<h1>Bad gateway</h1>", { "Content-Type": "text/html" });
const drop: Behaviour = ({ socket }) => socket?.destroy();
const hang: Behaviour = () => {};
/** What PostgREST returns for the lookups in flight when PostgreSQL crashes. */
const crashed = json(400, { code: "", details: null, hint: null, message: "" });
const unavailable = error(503, "PGRST002");
/** What hosted projects return for a sound secret key now and then. */
const issuedAtFuture = error(401, "PGRST303");

const GZIP = { "Content-Encoding": "gzip" };
const rowInGzip = (project_id: string) =>
  gzipSync(JSON.stringify([{ project_id }]));

/** The first attempt decides. */
const ONE_REQUEST: Fault[] = [
  ["a row", aRow, ACTIVE],
  ["no row", noRow, NOT_FOUND],
  ["a row in gzip", respondWith(200, rowInGzip, GZIP), ACTIVE],

  // What another attempt would not change is a 500 at once. A code counts by its form.
  ...([
    [400, { code: "PGRST100" }, "PGRST100"],
    [401, { code: "PGRST301" }, "PGRST301"],
    [403, { code: "42501" }, "42501"],
    [404, { code: "PGRST205" }, "PGRST205"],
    [500, { code: "57014" }, "57014"],
    [500, { code: "PGRSTX00" }, "PGRSTX00"],
    [501, { code: "0A000" }, "0A000"],
    [400, { code: null }],
    [400, { code: "pgrst100" }],
    [400, { code: "42501\n" }],
    [400, { code: "425010" }],
    [400, { code: "PGRST1000" }],
    [400, { code: { toString: null } }],
    [400, { code: ["42501"] }],
    [401, { message: "Invalid API key" }],
    [500, null],
    [500, "42501"],
    [600, {}],
    [999, {}],
    // Texts that the Data API, or a proxy before it, might send back.
    ...[SECRET_KEY, USER, encodeURIComponent(USER)].map((text) => [
      400,
      { code: text, message: text, details: text, hint: text },
    ]),
  ] as [status: number, body: unknown, code?: string][]).map((
    [status, body, code = `http_${status}`],
  ): Fault => [
    `${status} ${JSON.stringify(body)}`,
    json(status, body),
    `${code} ${status}`,
  ]),
  // To supabase-js, both are a success without rows.
  ["404 with an array", respondWith(404, " \n[]"), "http_404 404"],
  ["404 with nothing", respondWith(404, ""), "http_404 404"],
  ["500 with HTML", html(500), "http_500 500"],
  [
    "a redirect, which would take the key elsewhere",
    first(respondWith(307, "", { Location: "/elsewhere" }), aRow),
    "http_307 307",
  ],
  ...Object.entries({
    "an object": ROW,
    "null": "null",
    "a string": `"${PRODUCT}"`,
    "an array of nulls": "[null]",
    "an empty row": "[{}]",
    "a row of this project and one of another": `[${ROW},{"project_id":"x"}]`,
    "10 MB of rows": `[${`${ROW},`.repeat(200_000)}${ROW}]`,
  }).map(([what, body]): Fault => [
    `200 with ${what}`,
    respondWith(200, (project) => body.replaceAll(PRODUCT, project)),
    "malformed 200",
  ]),
  // Another success is no answer to this query: it may have left rows out.
  ["206 with no row", respondWith(206, "[]"), "http_206 206"],
  ["204", respondWith(204, ""), "http_204 204"],
];

/** A later attempt decides, or the end of the 5 s. When attempts begin: `retries_test.ts`. */
const AGAIN: Fault[] = [
  ...[502, 503, 504, 520, 530].map((status): Fault => [
    `one ${status} with HTML`,
    first(html(status), aRow),
    ACTIVE,
  ]),
  ["one 503 57P01", first(error(503, "57P01"), noRow), NOT_FOUND],
  ["one 504 PGRST003", first(error(504, "PGRST003"), noRow), NOT_FOUND],
  ["one 400 from a crash of PostgreSQL", first(crashed, aRow), ACTIVE],
  ["one 401 PGRST303", first(issuedAtFuture, aRow), ACTIVE],
  ["one 200 that is cut", first(respondWith(200, "["), aRow), ACTIVE],
  ["one empty 200", first(respondWith(200, ""), noRow), NOT_FOUND],
  ["one dropped connection", first(drop, aRow), ACTIVE],
  // A failure that lasts is a 500 in the end.
  ["silence, which gets no other attempt", first(hang, aRow), "timeout 0"],
  [
    "a response that comes byte by byte and never ends",
    async (response) => {
      for (; !response.closed; await sleep(50)) response.write(" ");
    },
    "timeout 0",
  ],
  ["one 503, and then no response", first(html(503), hang), "http_503 503"],
  ["502 always", html(502), "http_502 502"],
  ["503 always, as after 12 s without PostgreSQL", unavailable, "PGRST002 503"],
  ["400 without a code always", crashed, "http_400 400"],
  ["401 PGRST303 always", issuedAtFuture, "PGRST303 401"],
  ["HTML always", respondWith(200, "<h1>Welcome</h1>"), "malformed 200"],
  ["connections dropped always", drop, "unreachable 0"],
];

/** The response that an outcome means. */
const expected = (outcome: Expected | string) =>
  typeof outcome === "string" ? DATABASE_ERROR : outcome;

/** What each product's lookups meet. Those of other products find nothing. */
const behaviours = new Map<string, Behaviour>();
const edgeFunction = await startFunctionOnStub((response, url) =>
  (behaviours.get(productOf(url)) ?? noRow)(response, url)
);
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());

/** Asks the function while the Data API does something. */
function ask(behave: Behaviour, product: string = crypto.randomUUID()) {
  behaviours.set(product, behave);
  return check(product, USER, edgeFunction.url);
}

Deno.test("fault: the Data API is asked one small question, with the key", async () => {
  await assertResponse(ask(aRow, PRODUCT), ACTIVE);

  const [{ method, url = "", headers } = {}] = edgeFunction.requests;
  const query = new URLSearchParams({
    select: "project_id",
    project_id: `eq.${PRODUCT}`,
    curr_user: `eq.${USER}`,
    limit: "1",
  });
  assertEquals(
    [method, url, headers?.apikey, headers?.authorization],
    [
      "GET",
      `/rest/v1/activation_keys?${query}`,
      SECRET_KEY,
      `Bearer ${SECRET_KEY}`,
    ],
  );
});

for (const fault of ONE_REQUEST) {
  const [name, , outcome] = fault;
  const { status } = expected(outcome);
  Deno.test(`fault: ${name} → ${status}, without another attempt`, async () => {
    assertEquals(await meet(fault), 1);
    await assertLogged([fault]);
  });
}

// These wait for seconds, so they wait together. Not all at once: a slow machine could not start so
// many connections in time.
Deno.test("fault: what may pass is tried again, up to six times in 5 s", async () => {
  await Promise.all(AGAIN.map(async (fault, nth) => {
    await sleep(20 * nth);
    // Deno itself may repeat one whose connection was dropped.
    assert(await meet(fault) <= 2 * LIMITS.attempts, fault[0]);
  }));
  await assertLogged(AGAIN);
});

/** Asks the function while the Data API fails, and checks the response. Returns the number of requests. */
async function meet([name, behave, outcome]: Fault): Promise<number> {
  const product = crypto.randomUUID();
  await assertResponse(ask(behave, product), expected(outcome), name);
  const requests =
    edgeFunction.requests.filter(({ url = "" }) => productOf(url) === product)
      .length;
  await assertResponse(ask(noRow, product), NOT_FOUND, "the next is healthy");
  return requests;
}

let read = 0;

/** Fails unless the function has logged the failures among these since the last call, and nothing else. */
async function assertLogged(met: Fault[]): Promise<void> {
  const codes = met.map(([, , outcome]) => outcome)
    .filter((outcome) => typeof outcome === "string");
  const lines = await loggedLines(edgeFunction, read + codes.length);
  const logged = lines.slice(read).map((line) => {
    const { event, code, status, duration_ms, ...rest } = JSON.parse(line);
    assertEquals([event, rest], ["lookup_failed", {}]);
    assert(Number.isInteger(duration_ms) && duration_ms >= 0, line);
    return `${code} ${status}`;
  });
  read = lines.length;
  assertEquals(logged.sort(), codes.sort());
}
