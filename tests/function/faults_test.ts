/** What the function asks of the Data API, and does when that fails, or a caller is bad. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { assert, assertEquals } from "@std/assert";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import * as CONTRACT from "../support/contract.ts";
import {
  assertResponse,
  checkAt,
  postHead,
  sendTo,
} from "../support/requests.ts";
import {
  aRow,
  type Behaviour,
  logged,
  noRow,
  productOf,
  respondWith,
  ROW,
  startFunctionOnStub,
} from "../support/data_api_stub.ts";

const { ACTIVE, DATABASE_ERROR, LIMITS, NOT_FOUND } = CONTRACT;
const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const { SECRET_KEY } = LOCAL_SERVICE;

type Fault = [
  name: string,
  behave: Behaviour,
  /** The response, or the code and status in the log of a 500. */
  outcome: CONTRACT.Expected | string,
  /** The most attempts that it may make, by default one. Of several, it has to make two. */
  attempts?: number,
];

const json = (status: number, body: unknown) =>
  respondWith(status, JSON.stringify(body));
/** An error in a response that is long, but below 1 MiB. */
const error = (status: number, code: unknown) =>
  json(status, { code, message: "x".repeat(1_000_000) });
const html = (status: number) =>
  respondWith(status, "<h1>Bad gateway</h1>", { "Content-Type": "text/html" });
const text = (text: string) => respondWith(200, text);
const drop: Behaviour = ({ socket }) => socket?.destroy();
const hang: Behaviour = () => {};
const rowAfter = (ms: number): Behaviour => (...it) =>
  sleep(ms).then(() => aRow(...it));
const noRowInGzip: Behaviour = (response) =>
  response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("[]"));
/** What PostgREST returns for the queries in flight when PostgreSQL crashes. */
const crashed = json(400, { code: "", details: null, hint: null, message: "" });
/** What PostgREST returns for the queries in flight when its connections are killed. */
const killed = error(503, "57P01");
/** What hosted projects return for a sound secret key now and then. */
const issuedAtFuture = error(401, "PGRST303");
/** A response that comes byte by byte and never ends. */
const trickle: Behaviour = async (response) => {
  for (; !response.closed; await sleep(50)) response.write(" ");
};
/** Behaves in one way towards the first request, and in another towards those after it. */
const firstThen = (first: Behaviour, then: Behaviour): Behaviour => {
  let count = 0;
  return (response, url) => (count++ === 0 ? first : then)(response, url);
};
const redirect = respondWith(307, "", { Location: "/x" });

/** What is not logged, because it does not have the form of a code. */
const NO_CODE = ["42p01", "4250", "425010", "42501\n", "pgrst100", "PGRST1000"];

/** Faults that are decided by the first attempt. */
const FIRST_DECIDES: Fault[] = [
  ["a row", aRow, ACTIVE],
  ["no row", noRow, NOT_FOUND],
  ["no row, in gzip and chunks", noRowInGzip, NOT_FOUND],
  ["two rows", text(`[${ROW},${ROW}]`), ACTIVE],

  // A code that has the form of PostgreSQL's or of PostgREST's is logged.
  ["401 PGRST301", error(401, "PGRST301"), "PGRST301 401"],
  ["500 57014", error(500, "57014"), "57014 500"],
  ["500 PGRSTX00", error(500, "PGRSTX00"), "PGRSTX00 500"],
  ...NO_CODE.map((code): Fault => [
    `the code ${JSON.stringify(code)}`,
    error(400, code),
    "http_400 400",
  ]),
  ["no code", error(400, null), "http_400 400"],
  ["a code that is no string", error(400, ["42501"]), "http_400 400"],
  ["401 of a gateway", json(401, { message: "No key" }), "http_401 401"],
  ["500 with null", json(500, null), "http_500 500"],
  ["501 with HTML", html(501), "http_501 501"],
  ["600", json(600, {}), "http_600 600"],
  ["404 with an array", respondWith(404, " \n[]"), "http_404 404"],
  ["404 with nothing", respondWith(404, ""), "http_404 404"],
  ["a redirect, which would take the key elsewhere", redirect, "http_307 307"],

  // A success is a 200 with a list of rows of this product. A 206 may leave rows out.
  ["an object", text(ROW), "malformed 200"],
  ["null", text("null"), "malformed 200"],
  ["a string", text('"<product>"'), "malformed 200"],
  ["an array of nulls", text("[null]"), "malformed 200"],
  ["an empty row", text("[{}]"), "malformed 200"],
  ["another's row, too", text(`[${ROW},{"project_id":"x"}]`), "malformed 200"],
  ["206 with no row", respondWith(206, "[]"), "http_206 206"],
  ["204", respondWith(204, ""), "http_204 204"],
];

/** Faults that a later attempt or the limit of 5 s decides. Their timing: `retries_test.ts`. */
const LATER_DECIDES: Fault[] = [
  ["one 502", firstThen(html(502), aRow), ACTIVE, 2],
  ["one 599", firstThen(html(599), noRow), NOT_FOUND, 2],
  ["one 503 57P01", firstThen(killed, noRow), NOT_FOUND, 2],
  ["one crash of PostgreSQL", firstThen(crashed, aRow), ACTIVE, 2],
  ["one 401 PGRST303", firstThen(issuedAtFuture, aRow), ACTIVE, 2],
  ["one 200 that is cut", firstThen(text("["), aRow), ACTIVE, 2],
  ["one empty 200", firstThen(text(""), noRow), NOT_FOUND, 2],
  ["one dropped connection", firstThen(drop, aRow), ACTIVE, 2],
  // A busy Data API gets one query: a second attempt would get the second response.
  ["a row after 4 s", firstThen(rowAfter(4_000), noRow), ACTIVE],
  ["silence", firstThen(hang, aRow), "timeout 0"],
  ["a response that never ends", trickle, "timeout 0"],
  // A failure that does not pass is a 500 in the end.
  ["one 503, then silence", firstThen(killed, hang), "57P01 503", 2],
  ["503 always", killed, "57P01 503", 6],
  ["400 without a code always", crashed, "http_400 400", 6],
  ["401 PGRST303 always", issuedAtFuture, "PGRST303 401", 6],
  ["HTML always", text("<h1>Welcome</h1>"), "malformed 200", 6],
  ["dropped connections always", drop, "unreachable 0", 6],
];

/** How the Data API behaves towards lookups of each product. For any other, it has no row. */
const behaviours = new Map<string, Behaviour>();
const edgeFunction = await startFunctionOnStub((response, url) =>
  (behaviours.get(productOf(url)) ?? noRow)(response, url)
);
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());

/** Asks the function about a product, while the Data API behaves like this for it. */
function ask(behave: Behaviour, product: string = crypto.randomUUID()) {
  behaviours.set(product, behave);
  return checkAt(edgeFunction.url, product, USER);
}

async function assertFault([name, behave, outcome, attempts = 1]: Fault) {
  const product = crypto.randomUUID();
  const expected = typeof outcome === "string" ? DATABASE_ERROR : outcome;
  await assertResponse(ask(behave, product), expected, name);
  const made = edgeFunction.requests
    .filter(({ url = "" }) => productOf(url) === product).length;
  // A slow machine may leave out all retries but one. `retries_test.ts` counts them exactly.
  const hasEnough = made >= Math.min(attempts, 2);
  assert(hasEnough && made <= attempts, `${made} attempts of ${name}`);
}

/** Fails unless the function logs these lines meanwhile, as `<code> <status>`, and no other. */
async function assertLogs(expected: string[], act: () => Promise<unknown>) {
  const from = edgeFunction.output().length;
  await act();
  // One more failure, as a marker: when its line is there, all earlier ones are.
  await assertResponse(ask(error(418, null)), DATABASE_ERROR);
  const lines = await logged(edgeFunction.output, expected.length + 1, from);
  assertEquals(lines.sort(), [...expected, "http_418 418"].sort());
}

function testFaults(name: string, ...faults: Fault[]) {
  const lines = faults.map(([, , outcome]) => outcome)
    .filter((outcome) => typeof outcome === "string");
  Deno.test(`fault: ${name}`, () =>
    assertLogs(lines, () =>
      Promise.all(faults.map(async (fault, nth) => {
        // A slow machine cannot make all connections at once.
        await sleep(20 * nth);
        await assertFault(fault);
      }))));
}

for (const fault of FIRST_DECIDES) {
  testFaults(`${fault[0]}, without another attempt`, fault);
}

// These take seconds, so they overlap.
testFaults("those that a later attempt or 5 s decide", ...LATER_DECIDES);

Deno.test("query: the Data API is asked one small question, with the key", async () => {
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

Deno.test("query: what is wrong with a request is decided without a query", async () => {
  const made = edgeFunction.requests.length;
  const { url } = edgeFunction;
  await assertResponse(checkAt(url, PRODUCT, ""), CONTRACT.MISSING);
  await assertResponse(checkAt(url, "x", USER), CONTRACT.INVALID);
  const tooLong = "x".repeat(LIMITS.bodyBytes);
  await assertResponse(checkAt(url, PRODUCT, tooLong), CONTRACT.TOO_LARGE);
  assertEquals(edgeFunction.requests.length, made);
});

Deno.test("fault: a response that declares more than 1 MiB is not read", async () => {
  let closed: Promise<unknown> | undefined;
  const length = 1_048_576 + 1;
  const behave: Behaviour = (response) => {
    response.writeHead(200, { "Content-Length": length }).write("[");
    // A response that is neither read nor cancelled holds its connection for half a minute.
    const signal = AbortSignal.timeout(10_000);
    closed = once(response, "close", { signal });
  };
  const fault: Fault = ["too long", behave, "malformed 200"];
  await assertLogs(["malformed 200"], () => assertFault(fault));
  await closed;
});

Deno.test("caller: one that stays silent gets a 408", () => {
  const body = new TransformStream().readable; // Silent, and never ends.
  return assertResponse(sendTo(edgeFunction.url, { body }), CONTRACT.TIMEOUT);
});

const BODY = JSON.stringify({ username: "a", project_id: PRODUCT });
const CHUNKED = postHead("Transfer-Encoding: chunked");

const HANGS_UP = {
  "within a declared body": postHead("Content-Length: 100") + '{"username":"a"',
  "within a chunk": CHUNKED + "ff\r\n{",
  "within a body that is too long": CHUNKED + "5000\r\n" + "x".repeat(0x5000),
  "before the response": postHead(`Content-Length: ${BODY.length}`) + BODY,
};

/** Sends a text over a new connection, and hangs up. */
async function hangUp(text: string) {
  behaviours.set(PRODUCT, rowAfter(500)); // So that a lookup is under way.
  const { hostname, port } = edgeFunction.url;
  const connection = connect(Number(port), hostname);
  await once(connection.on("error", () => {}), "connect");
  await new Promise((written) => connection.write(text, written));
  connection.destroy();
}

for (const [when, text] of Object.entries(HANGS_UP)) {
  Deno.test(`caller: one that hangs up ${when} disturbs nobody, and logs nothing`, () =>
    assertLogs([], async () => {
      const hangingUp = [1, 2, 3].map(() => hangUp(text));
      await assertResponse(ask(aRow), ACTIVE);
      await Promise.all(hangingUp);
      // This lookup ends after those of the callers who hung up.
      await assertResponse(ask(rowAfter(500)), ACTIVE);
    }));
}
