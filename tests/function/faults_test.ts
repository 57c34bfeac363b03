/** What the function does when the Data API fails: it responds in time, and logs one line. */
import { once } from "node:events";
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
  firstThen,
  logged,
  noRow,
  productOf,
  respondWith,
  startFunctionOnStub,
} from "../support/data_api_stub.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const { SECRET_KEY } = LOCAL_SERVICE;

/** How the Data API behaves, and then: a response, or the code and status that a 500 logs. */
type Fault = [name: string, behave: Behaviour, outcome: Expected | string];

const ROW = JSON.stringify({ project_id: PRODUCT });

const json = (status: number, body: unknown) =>
  respondWith(status, JSON.stringify(body));
const error = (status: number, code: unknown) =>
  json(status, { code, message: "x".repeat(100_000), details: code });
const html = (status: number) =>
  respondWith(status, "<h1>Bad gateway</h1>", { "Content-Type": "text/html" });
/** A 200 with this text, in which the product of the query takes the place of `PRODUCT`. */
const text = (text: string) =>
  respondWith(200, (product) => text.replaceAll(PRODUCT, product));
const drop: Behaviour = ({ socket }) => socket?.destroy();
const redirect = firstThen(respondWith(307, "", { Location: "/x" }), aRow);
const hang: Behaviour = () => {};
const slowRow: Behaviour = (response, url) =>
  sleep(4_000).then(() => aRow(response, url));
const rowInGzip = respondWith(
  200,
  (project_id) => gzipSync(JSON.stringify([{ project_id }])),
  { "Content-Encoding": "gzip" },
);
/** What PostgREST returns for the queries in flight when PostgreSQL crashes. */
const crashed = json(400, { code: "", details: null, hint: null, message: "" });
/** What hosted projects return for a sound secret key now and then. */
const issuedAtFuture = error(401, "PGRST303");
/** A response that comes byte by byte and never ends. */
const trickle: Behaviour = async (response) => {
  for (; !response.closed; await sleep(50)) response.write(" ");
};

/** Faults that are decided by the first attempt. */
const FIRST_DECIDES: Fault[] = [
  ["a row", aRow, ACTIVE],
  ["no row", noRow, NOT_FOUND],
  ["a row in gzip", rowInGzip, ACTIVE],

  // A code that has the form of PostgreSQL's or of PostgREST's is logged.
  ["401 PGRST301", error(401, "PGRST301"), "PGRST301 401"],
  ["403 42501", error(403, "42501"), "42501 403"],
  ["500 57014", error(500, "57014"), "57014 500"],
  ["500 PGRSTX00", error(500, "PGRSTX00"), "PGRSTX00 500"],
  ["501 0A000", error(501, "0A000"), "0A000 501"],

  // Any other code is not logged.
  ["no code", error(400, null), "http_400 400"],
  ["a code in lower case", error(400, "42p01"), "http_400 400"],
  ["PostgREST's in lower case", error(400, "pgrst100"), "http_400 400"],
  ["a code and a line break", error(400, "42501\n"), "http_400 400"],
  ["a code too short", error(400, "4250"), "http_400 400"],
  ["a code too long", error(400, "425010"), "http_400 400"],
  ["PostgREST's too long", error(400, "PGRST1000"), "http_400 400"],
  ["an object for a code", error(400, { toString: null }), "http_400 400"],
  ["an array for a code", error(400, ["42501"]), "http_400 400"],
  ["the secret key for a code", error(400, SECRET_KEY), "http_400 400"],
  ["the user for a code", error(400, USER), "http_400 400"],
  ["401 of a gateway", json(401, { message: "No key" }), "http_401 401"],
  ["500 with null", json(500, null), "http_500 500"],
  ["500 with a string", json(500, "42501"), "http_500 500"],
  ["500 with HTML", html(500), "http_500 500"],
  ["600", json(600, {}), "http_600 600"],
  ["404 with an array", respondWith(404, " \n[]"), "http_404 404"],
  ["404 with nothing", respondWith(404, ""), "http_404 404"],
  ["a redirect, which would take the key elsewhere", redirect, "http_307 307"],

  // A success is a 200 with a list of rows of this product. A 206 may leave rows out.
  ["an object", text(ROW), "malformed 200"],
  ["null", text("null"), "malformed 200"],
  ["a string", text(`"${PRODUCT}"`), "malformed 200"],
  ["an array of nulls", text("[null]"), "malformed 200"],
  ["an empty row", text("[{}]"), "malformed 200"],
  ["another's row, too", text(`[${ROW},{"project_id":"x"}]`), "malformed 200"],
  ["206 with no row", respondWith(206, "[]"), "http_206 206"],
  ["204", respondWith(204, ""), "http_204 204"],
];

/** Faults that a later attempt or the limit of 5 s decides. Their timing: `retries_test.ts`. */
const LATER_DECIDES: Fault[] = [
  ["one 502", firstThen(html(502), aRow), ACTIVE],
  ["one 503", firstThen(html(503), aRow), ACTIVE],
  ["one 504", firstThen(html(504), aRow), ACTIVE],
  ["one 520", firstThen(html(520), aRow), ACTIVE],
  ["one 530", firstThen(html(530), noRow), NOT_FOUND],
  ["one 503 57P01", firstThen(error(503, "57P01"), noRow), NOT_FOUND],
  ["one 400 from a crash of PostgreSQL", firstThen(crashed, aRow), ACTIVE],
  ["one 401 PGRST303", firstThen(issuedAtFuture, aRow), ACTIVE],
  ["one 200 that is cut", firstThen(text("["), aRow), ACTIVE],
  ["one empty 200", firstThen(text(""), noRow), NOT_FOUND],
  ["one dropped connection", firstThen(drop, aRow), ACTIVE],
  // A lookup waits while the Data API is silent: another attempt would get the second response.
  ["a row after 4 s", firstThen(slowRow, noRow), ACTIVE],
  ["silence", firstThen(hang, aRow), "timeout 0"],
  // A failure that does not pass is a 500 in the end.
  ["a response that never ends", trickle, "timeout 0"],
  ["one 503, and then silence", firstThen(html(503), hang), "http_503 503"],
  ["502 always", html(502), "http_502 502"],
  ["503 always", error(503, "PGRST002"), "PGRST002 503"],
  ["400 without a code always", crashed, "http_400 400"],
  ["401 PGRST303 always", issuedAtFuture, "PGRST303 401"],
  ["HTML always", text("<h1>Welcome</h1>"), "malformed 200"],
  ["dropped connections always", drop, "unreachable 0"],
];

/** Returns the response of an outcome. */
const responseOf = (outcome: Expected | string) =>
  typeof outcome === "string" ? DATABASE_ERROR : outcome;

/** How the Data API behaves towards lookups of each product. For any other, it has no row. */
const behaviours = new Map<string, Behaviour>();
const edgeFunction = await startFunctionOnStub((response, url) =>
  (behaviours.get(productOf(url)) ?? noRow)(response, url)
);
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());

/** Asks the function about a product, while the Data API behaves like this for it. */
function ask(behave: Behaviour, product: string = crypto.randomUUID()) {
  behaviours.set(product, behave);
  return check(product, USER, edgeFunction.url);
}

Deno.test("fault: the Data API is asked one small question, with the key", async () => {
  await assertResponse(ask(aRow, PRODUCT), ACTIVE);
  const query = new URLSearchParams({
    select: "project_id",
    project_id: `eq.${PRODUCT}`,
    curr_user: `eq.${USER}`,
    limit: "1",
  });
  const request = edgeFunction.requests.at(-1);
  assertEquals(request?.method, "GET");
  assertEquals(request?.url, `/rest/v1/activation_keys?${query}`);
  assertEquals(request?.headers.apikey, SECRET_KEY);
  assertEquals(request?.headers.authorization, `Bearer ${SECRET_KEY}`);
});

Deno.test("fault: a response that declares more than 1 MiB is not read", async () => {
  let closed: Promise<unknown> | undefined;
  const length = LIMITS.responseMiB * 1_048_576 + 1;
  const behave: Behaviour = (response) => {
    response.writeHead(200, { "Content-Length": length }).write("[");
    // A response that is neither read nor cancelled holds its connection for half a minute.
    const signal = AbortSignal.timeout(10_000);
    closed = once(response, "close", { signal });
  };
  await assertResponse(ask(behave), DATABASE_ERROR);
  await assertLogged(["too long", behave, "malformed 200"]);
  await closed;
});

for (const fault of FIRST_DECIDES) {
  const [name, , outcome] = fault;
  const { status } = responseOf(outcome);
  Deno.test(`fault: ${name} → ${status}, without another attempt`, async () => {
    assertEquals(await assertOutcome(fault), 1);
    await assertLogged(fault);
  });
}

// These take seconds, so they overlap, but a slow machine cannot make all connections at once.
Deno.test("fault: after a failure that may pass, the Data API is asked again, up to six times in 5 s", async () => {
  await Promise.all(LATER_DECIDES.map(async (fault, nth) => {
    await sleep(20 * nth);
    // Deno itself may repeat an attempt whose connection was dropped.
    assert(await assertOutcome(fault) <= 2 * LIMITS.attempts, fault[0]);
  }));
  await assertLogged(...LATER_DECIDES);
});

/** Fails unless a fault has its outcome. Returns how many attempts the lookup made. */
async function assertOutcome([name, behave, outcome]: Fault): Promise<number> {
  const product = crypto.randomUUID();
  await assertResponse(ask(behave, product), responseOf(outcome), name);
  const { length } = edgeFunction.requests
    .filter(({ url = "" }) => productOf(url) === product);
  await assertResponse(ask(noRow, product), NOT_FOUND, "the next lookup");
  return length;
}

let checkedLines = 0;

/** Fails unless the lines logged since the last call are those that these faults ask for. */
async function assertLogged(...faults: Fault[]): Promise<void> {
  const expected = faults.map(([, , outcome]) => outcome)
    .filter((outcome) => typeof outcome === "string");
  const lines = await logged(edgeFunction, checkedLines + expected.length);
  const outcomes = lines.slice(checkedLines).map((line) => {
    const { event, code, status, duration_ms, ...rest } = line;
    assertEquals([event, rest], ["lookup_failed", {}]);
    assert(Number.isInteger(duration_ms) && Number(duration_ms) >= 0);
    return `${code} ${status}`;
  });
  checkedLines = lines.length;
  assertEquals(outcomes.sort(), expected.sort());
}
