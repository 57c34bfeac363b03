/** What the function does when the Data API fails: a response in time, one log line, and no leak. */
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

/** Something that the Data API does, and what the lookup comes to. */
interface Fault {
  name: string;
  behave: Behaviour;
  /** The response. When not given, it is the 500. */
  response?: Expected;
  /** The code and the status of the line in the log. When not given, there is none. */
  logged?: string;
}

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
/** A response that comes byte by byte and never ends. */
const trickle: Behaviour = async (response) => {
  for (; !response.closed; await sleep(50)) response.write(" ");
};

const GZIP = { "Content-Encoding": "gzip" };
const rowInGzip = (project_id: string) =>
  gzipSync(JSON.stringify([{ project_id }]));

/** Errors whose code has the form of PostgreSQL's or of PostgREST's: it is logged. */
const KNOWN_ERRORS: [status: number, code: string][] = [
  [400, "PGRST100"],
  [401, "PGRST301"],
  [403, "42501"],
  [404, "PGRST205"],
  [500, "57014"],
  [500, "PGRSTX00"],
  [501, "0A000"],
];

/** Errors without such a code: their status is logged. */
const OTHER_ERRORS: [status: number, body: unknown][] = [
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
  [400, { code: SECRET_KEY, message: SECRET_KEY }],
  [400, { code: USER, details: USER }],
  [400, { code: encodeURIComponent(USER), hint: encodeURIComponent(USER) }],
];

/** What a 200 may hold that is no list of rows of this project. */
const MALFORMED = {
  "an object": ROW,
  "null": "null",
  "a string": `"${PRODUCT}"`,
  "an array of nulls": "[null]",
  "an empty row": "[{}]",
  "a row of this project and one of another": `[${ROW},{"project_id":"x"}]`,
};

/** The first attempt decides. */
const FIRST_DECIDES: Fault[] = [
  { name: "a row", behave: aRow, response: ACTIVE },
  { name: "no row", behave: noRow, response: NOT_FOUND },
  {
    name: "a row in gzip",
    behave: respondWith(200, rowInGzip, GZIP),
    response: ACTIVE,
  },
  ...KNOWN_ERRORS.map(([status, code]) => ({
    name: `${status} ${code}`,
    behave: json(status, { code }),
    logged: `${code} ${status}`,
  })),
  ...OTHER_ERRORS.map(([status, body]) => ({
    name: `${status} ${JSON.stringify(body)}`,
    behave: json(status, body),
    logged: `http_${status} ${status}`,
  })),
  ...Object.entries(MALFORMED).map(([what, body]) => ({
    name: `200 with ${what}`,
    behave: respondWith(200, (project) => body.replaceAll(PRODUCT, project)),
    logged: "malformed 200",
  })),
  // To supabase-js, these two are a success without rows.
  {
    name: "404 with an array",
    behave: respondWith(404, " \n[]"),
    logged: "http_404 404",
  },
  {
    name: "404 with nothing",
    behave: respondWith(404, ""),
    logged: "http_404 404",
  },
  { name: "500 with HTML", behave: html(500), logged: "http_500 500" },
  {
    name: "a redirect, which would take the key elsewhere",
    behave: first(respondWith(307, "", { Location: "/elsewhere" }), aRow),
    logged: "http_307 307",
  },
  // Another success does not count: it may have left rows out.
  {
    name: "206 with no row",
    behave: respondWith(206, "[]"),
    logged: "http_206 206",
  },
  { name: "204", behave: respondWith(204, ""), logged: "http_204 204" },
];

/** Failures that pass: the second attempt decides. */
const PASSING: Record<string, Behaviour> = {
  "502 with HTML": html(502),
  "503 with HTML": html(503),
  "504 with HTML": html(504),
  "520 with HTML": html(520),
  "530 with HTML": html(530),
  "503 57P01": error(503, "57P01"),
  "504 PGRST003": error(504, "PGRST003"),
  "400 from a crash of PostgreSQL": crashed,
  "401 PGRST303": issuedAtFuture,
  "200 that is cut": respondWith(200, "["),
  "empty 200": respondWith(200, ""),
  "dropped connection": drop,
};

/** Failures that stay until time is up, and what is logged in the end. */
const STAYING: Record<string, [behave: Behaviour, logged: string]> = {
  "silence": [hang, "timeout 0"],
  "silence, though another attempt would get a row": [
    first(hang, aRow),
    "timeout 0",
  ],
  "a response that never ends": [trickle, "timeout 0"],
  "one 503, and then silence": [first(html(503), hang), "http_503 503"],
  "502": [html(502), "http_502 502"],
  "503, as after 12 s without PostgreSQL": [unavailable, "PGRST002 503"],
  "400 without a code": [crashed, "http_400 400"],
  "401 PGRST303": [issuedAtFuture, "PGRST303 401"],
  "HTML": [respondWith(200, "<h1>Welcome</h1>"), "malformed 200"],
  "dropped connections": [drop, "unreachable 0"],
};

/** A later attempt decides, or the end of the 5 s. When attempts begin: `retries_test.ts`. */
const LATER_DECIDES: Fault[] = [
  ...Object.entries(PASSING).flatMap(([what, behave]) => [
    { name: `one ${what}`, behave: first(behave, aRow), response: ACTIVE },
    { name: `one ${what}`, behave: first(behave, noRow), response: NOT_FOUND },
  ]),
  ...Object.entries(STAYING).map(([what, [behave, logged]]) => ({
    name: `always ${what}`,
    behave,
    logged,
  })),
];

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

Deno.test("fault: a response that declares more than 1 MiB is not read", async () => {
  const closed = Promise.withResolvers<unknown>();
  const length = LIMITS.responseMiB * 1_048_576 + 1;
  const behave: Behaviour = (response) => {
    response.writeHead(200, { "Content-Length": length }).write("[");
    const signal = AbortSignal.timeout(10_000);
    closed.resolve(once(response, "close", { signal }));
  };
  await assertResponse(ask(behave), DATABASE_ERROR);
  await assertLogged([{ name: "", behave, logged: "malformed 200" }]);
  // Without that, the connection would stay open for half a minute.
  await closed.promise;
});

for (const fault of FIRST_DECIDES) {
  const { name, response = DATABASE_ERROR } = fault;
  Deno.test(`fault: ${name} → ${response.status}, without another attempt`, async () => {
    assertEquals(await meet(fault), 1);
    await assertLogged([fault]);
  });
}

// These wait for seconds, so they wait together. Not all at once: a slow machine could not start so
// many connections in time.
Deno.test("fault: what may pass is tried again, up to six times in 5 s", async () => {
  await Promise.all(LATER_DECIDES.map(async (fault, nth) => {
    await sleep(20 * nth);
    // Deno itself may repeat one whose connection was dropped.
    assert(await meet(fault) <= 2 * LIMITS.attempts, fault.name);
  }));
  await assertLogged(LATER_DECIDES);
});

/** Asks the function while the Data API fails, and checks the response. Returns the number of requests. */
async function meet({ name, behave, response = DATABASE_ERROR }: Fault) {
  const product = crypto.randomUUID();
  await assertResponse(ask(behave, product), response, name);
  const { length } = edgeFunction.requests
    .filter(({ url = "" }) => productOf(url) === product);
  await assertResponse(ask(noRow, product), NOT_FOUND, "the next is healthy");
  return length;
}

let read = 0;

/** Fails unless the function has logged just what these faults ask for since the last call. */
async function assertLogged(faults: Fault[]): Promise<void> {
  const expected = faults.flatMap(({ logged = [] }) => logged);
  const lines = await loggedLines(edgeFunction, read + expected.length);
  const logged = lines.slice(read).map((line) => {
    const { event, code, status, duration_ms, ...rest } = JSON.parse(line);
    assertEquals([event, rest], ["lookup_failed", {}]);
    assert(Number.isInteger(duration_ms) && duration_ms >= 0, line);
    return `${code} ${status}`;
  });
  read = lines.length;
  assertEquals(logged.sort(), expected.sort());
}
