/** What the function does when the Data API fails: a response in time, one log line, and no leak. */
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { assert, assertEquals } from "@std/assert";
import {
  ACTIVE,
  type Answer,
  DATABASE_ERROR,
  NOT_FOUND,
} from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { write } from "../support/wire.ts";
import { LIMITS } from "../support/limits.ts";
import {
  type Behaviour,
  drop,
  first,
  hang,
  head,
  keys,
  linesOf,
  projectOf,
  respond,
  rows,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";

const { budgetMs, attempts: MAX_ATTEMPTS, lastAttemptMs } = LIMITS;

/** What a machine of a quarter of the speed may add to the lookup's budget. */
const MAX_MS = budgetMs + 4_000;

/** How many lookups fail together. */
const SPREAD = 8;

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const SECRET_KEY = "sb_secret_stub_0123456789abcdef";

/**
 * A Data API that fails: what it does, and what becomes of the lookup. A text is a 500, and the code
 * and the status of its log line.
 */
type Fault = [name: string, behave: Behaviour, outcome: Answer | string];

const ROW = JSON.stringify({ project_id: PROJECT });

const json = (status: number, body: unknown) =>
  respond(status, JSON.stringify(body));
const error = (status: number, code: string) =>
  json(status, { code, message: "a message", details: null, hint: null });
const html = (status: number) =>
  respond(status, "<h1>Bad gateway</h1>", { "Content-Type": "text/html" });
const cut = (text: string): Behaviour => (connection) =>
  write(connection, text);
/** What PostgREST returns for the lookups in flight when PostgreSQL crashes. */
const crashed = json(400, { code: "", details: null, hint: null, message: "" });
const unavailable = error(503, "PGRST002");
/** What hosted projects return for a sound secret key now and then. */
const issuedAtFuture = error(401, "PGRST303");

/** The first attempt decides. */
const ONE_REQUEST: Fault[] = [
  ["a row", keys(), ACTIVE],
  ["no row", rows(), NOT_FOUND],
  ["several rows", keys(2), ACTIVE],
  ["a row in chunks", chunked((row) => row), ACTIVE],
  ["a row in gzip", encoded("gzip", gzipSync), ACTIVE],
  ["a row in brotli", encoded("br", brotliCompressSync), ACTIVE],
  ["a row in gzip, in chunks", chunked(gzipSync, "gzip"), ACTIVE],

  // What another attempt would not change is a 500 at once.
  ...[
    "PGRST100 400",
    "PGRST301 401",
    "42501 403",
    "PGRST205 404",
    "57014 500",
    "PGRSTX00 500",
    "0A000 501",
  ].map((log): Fault => {
    const [code = "", status] = log.split(" ");
    return [`${status} ${code}`, error(Number(status), code), log];
  }),
  ...Object.entries({
    "401 without a code": { message: "Invalid API key" },
    "404 with an array, which supabase-js takes for no rows": [],
    "500 with JSON null": null,
    "500 with a JSON string": "42501",
    "400 with a code that is null": { code: null },
    "400 with a code in small letters": { code: "pgrst100" },
    "400 with a code and a line break": { code: "42501\n" },
    "400 with a code of six": { code: "425010" },
    "400 with a code of PGRST and four": { code: "PGRST1000" },
    "400 with a code that cannot become text": { code: { toString: null } },
    "400 with a code in an array": { code: ["42501"] },
    "600": {},
    "999": {},
  }).map(([name, body]): Fault => {
    const status = name.slice(0, 3);
    return [name, json(Number(status), body), `http_${status} ${status}`];
  }),
  [
    "404 with an array in gzip, after white space",
    encoded("gzip", () => gzipSync(" \n[]"), 404),
    "http_404 404",
  ],
  [
    "205 with a body of no declared length",
    cut("HTTP/1.1 205 Status\r\nConnection: close\r\n\r\n[]"),
    "http_205 205",
  ],
  // To supabase-js, a success.
  ["404 with nothing", respond(404, ""), "http_404 404"],
  ["500 with HTML", html(500), "http_500 500"],
  [
    "an error of 100,000 characters",
    json(400, { code: "XX000", message: "x".repeat(100_000) }),
    "XX000 400",
  ],
  [
    "a redirect, which would take the key elsewhere",
    first(respond(307, "", { Location: "/elsewhere" }), keys()),
    "http_307 307",
  ],
  ...Object.entries({
    "HTML": "<h1>Welcome</h1>",
    "nothing": "",
    "an object": ROW,
    "null": "null",
    "a string": `"${PROJECT}"`,
    "an array of nulls": "[null]",
    "an empty row": "[{}]",
    "a row of this project and one of another": `[${ROW},{"project_id":"x"}]`,
    "10 MB of rows": `[${`${ROW},`.repeat(200_000)}${ROW}]`,
    "cut JSON": `[${ROW}`,
  }).map(([what, body]): Fault => [
    `200 with ${what}`,
    respond(200, (project) => body.replaceAll(PROJECT, project)),
    "malformed 200",
  ]),
  // Another success is no answer to this query: it may have left rows out.
  ["201 with a row", keys(1, 201), "http_201 201"],
  ["206 with no row", respond(206, "[]"), "http_206 206"],
  ["204", respond(204, ""), "http_204 204"],
  // Texts that the Data API, or a proxy before it, might send back.
  ...[SECRET_KEY, USER, encodeURIComponent(USER)].map((text): Fault => [
    `an error that sends back ${text}`,
    json(400, { code: text, message: text, details: text, hint: text }),
    "http_400 400",
  ]),
];

/** The second attempt decides. */
const TWO_REQUESTS: Fault[] = [
  ...[502, 503, 504, 520, 530].map((status): Fault => [
    `one ${status} with HTML`,
    first(html(status), keys()),
    ACTIVE,
  ]),
  ["one 503 57P01", first(error(503, "57P01"), rows()), NOT_FOUND],
  ["one 504 PGRST003", first(error(504, "PGRST003"), rows()), NOT_FOUND],
  ["one 400 from a crash of PostgreSQL", first(crashed, keys()), ACTIVE],
  ["one 401 PGRST303", first(issuedAtFuture, keys()), ACTIVE],
  [
    "one connection dropped during the response",
    first(cut(head(200, `[${ROW}]`) + "["), rows()),
    NOT_FOUND,
  ],
  // A silent attempt gets a second one beside it, and what responds first counts.
  ["one that is silent", first(hang, keys()), ACTIVE],
  [
    "a slow one, and a failure beside it",
    first(
      after(2_000, keys()),
      error(400, "XX000"),
    ),
    "XX000 400",
  ],
];

/** Up to six attempts. */
const MORE_REQUESTS: Fault[] = [
  ["each response after 2 s", after(2_000, keys()), ACTIVE],
  ["each response after 4 s", after(4_000, keys()), ACTIVE],
  ["the table locked for 4.3 s", lockedFor(4_300, keys()), ACTIVE],
  [
    "one that is slow but right, and a Data API that fails meanwhile",
    first(after(4_700, keys()), unavailable),
    ACTIVE,
  ],
  [
    "one that fails slowly, and slow but right ones",
    first(after(2_000, html(504)), after(2_500, keys())),
    ACTIVE,
  ],
  ["two that are silent", first(hang, first(hang, keys())), ACTIVE],
  [
    "one 503, and one that is silent",
    first(unavailable, first(hang, keys())),
    ACTIVE,
  ],
  ["no response", hang, "timeout 0"],
  ["one 503, and then no response", first(html(503), hang), "http_503 503"],
  [
    "one that is silent, and a restart meanwhile",
    first(hang, downFor(2_500, unavailable)),
    ACTIVE,
  ],
  [
    "two 401 PGRST303",
    first(issuedAtFuture, first(issuedAtFuture, keys())),
    ACTIVE,
  ],
  ["401 PGRST303 for 2 s", downFor(2_000, issuedAtFuture), ACTIVE],
  ["503 for 3 s: PostgreSQL restarts", downFor(3_000, unavailable), ACTIVE],
  ["503 for 4.2 s", downFor(4_200, unavailable), ACTIVE],
  ["400 from a crash for 4.2 s", downFor(4_200, crashed), ACTIVE],
  [
    "down for 4.2 s, and each 502 takes 1.5 s",
    downFor(4_200, after(1_500, html(502))),
    ACTIVE,
  ],

  // A failure that lasts: a 500 within the budget.
  [
    "a response that comes byte by byte and never ends",
    async (connection) => {
      await write(connection, head(200, " ".repeat(100_000)));
      for (;;) {
        await write(connection, " ");
        await sleep(50);
      }
    },
    "timeout 0",
  ],
  ["each response after 5.7 s", after(5_700, keys()), "timeout 0"],
  ["502 always", html(502), "http_502 502"],
  ["503 always, as after 12 s without PostgreSQL", unavailable, "PGRST002 503"],
  [
    "503 always, with Retry-After",
    respond(503, "", { "Retry-After": "3600" }),
    "http_503 503",
  ],
  ["400 without a code always", crashed, "http_400 400"],
  ["401 PGRST303 always", issuedAtFuture, "PGRST303 401"],
  // An attempt that cannot end in time is not begun, or at least not what is logged.
  ...[2_000, 4_400, 4_700].map((ms): Fault => [
    `503 after ${ms} ms, always`,
    after(ms, unavailable),
    "PGRST002 503",
  ]),
];

/** The same, but Deno itself may repeat each attempt whose connection was dropped. */
const DROPPED: Fault[] = [
  ["one connection dropped before the response", first(drop, keys()), ACTIVE],
  [
    "one connection dropped during the headers",
    first(cut("HTTP/1.1 200 OK\r\nContent-"), keys()),
    ACTIVE,
  ],
  ["down for 4.2 s: connections dropped", downFor(4_200, drop), ACTIVE],
  ["drops every connection", drop, "unreachable 0"],
  [
    "drops every connection, and hangs at the last",
    async (connection, request) => {
      if (sinceAsked(request) >= lastAttemptMs) await hang(connection);
    },
    "unreachable 0",
  ],
];

/** What each project's lookups meet. Those of other projects find nothing. */
const behaviours = new Map<string, Behaviour>();
const askedAt = new Map<string, number>();
const dataApi = startDataApiStub((connection, request) =>
  (behaviours.get(projectOf(request)) ?? rows())(connection, request)
);
const edgeFunction = await startFunctionOn(dataApi, { SECRET_KEY });
Deno.test.afterAll(async () => {
  await edgeFunction[Symbol.asyncDispose]();
  await dataApi[Symbol.asyncDispose]();
});

/** Asks the function while the Data API does something. */
function ask(behave: Behaviour, project: string = crypto.randomUUID()) {
  behaviours.set(project, behave);
  askedAt.set(project, performance.now());
  return check(project, USER, edgeFunction.url);
}

Deno.test("fault: the Data API is asked one small question, with the key", async () => {
  await assertAnswer(ask(keys(), PROJECT), ACTIVE);

  const [request = ""] = dataApi.requests;
  const [, path = ""] = request.split(" ");
  const { pathname, searchParams } = new URL(path, "http://x");
  assert(request.startsWith("GET "), request);
  assertEquals(pathname, "/rest/v1/activation_keys");
  assertEquals([...searchParams], [
    ["select", "project_id"],
    ["project_id", `eq.${PROJECT}`],
    ["curr_user", `eq.${USER}`],
    ["limit", "1"],
  ]);
  for (const header of [`apikey: ${SECRET_KEY}`, "accept-encoding: identity"]) {
    assert(request.toLowerCase().includes(`\n${header}\r\n`), request);
  }
});

for (const fault of ONE_REQUEST) {
  Deno.test(nameOf(fault), async () => {
    await meet(fault, 1, 1);
    await assertLogged([fault]);
  });
}

// These wait for seconds, so they wait together. Not all at once: a slow machine could not start so
// many connections in time.
Deno.test("fault: those that take seconds", async (context) => {
  let steps = 0;
  const step = (name: string, fn: () => Promise<void>) => {
    const pause = sleep(20 * steps++);
    return context.step({
      name,
      fn: () => pause.then(fn),
      sanitizeOps: false,
      sanitizeResources: false,
      sanitizeExit: false,
    });
  };
  const meets = (least: number, most: number) => (fault: Fault) =>
    step(nameOf(fault), () => meet(fault, least, most));
  const lasting: Fault = ["503 always", unavailable, "PGRST002 503"];
  await Promise.all([
    ...TWO_REQUESTS.map(meets(2, 2)),
    ...MORE_REQUESTS.map(meets(2, MAX_ATTEMPTS)),
    ...DROPPED.map(meets(1, 2 * MAX_ATTEMPTS)),
    // Failures that come at once, and those that come after the time of the next attempt.
    ...[0, 350].map((ms) =>
      step(
        `fault: attempts are spread after 503 in ${ms} ms`,
        () => attemptsAreSpread(ms),
      )
    ),
    step("fault: the Data API goes away and comes back", goesAwayAndComesBack),
  ]);
  const met = [...TWO_REQUESTS, ...MORE_REQUESTS, ...DROPPED];
  await assertLogged([...met, ...Array(2 * SPREAD).fill(lasting)]);
});

async function attemptsAreSpread(ms: number): Promise<void> {
  const attempts = async () => {
    const times: number[] = [];
    const startedAt = performance.now();
    const response = ask(async (connection, request) => {
      times.push(performance.now());
      await after(ms, unavailable)(connection, request);
    });
    await assertAnswer(response, DATABASE_ERROR);
    return times.map((time) => time - startedAt);
  };
  const lookups = await Promise.all(Array.from({ length: SPREAD }, attempts));
  for (const at of lookups) assert(at.length <= MAX_ATTEMPTS, `${at}`);
  const timesOf = (attempt: number) =>
    lookups.map((times) => times.at(attempt) ?? NaN);
  const [second, last] = [timesOf(1), timesOf(-1)];
  assert(last.every((at) => at >= lastAttemptMs && at < budgetMs), `${last}`);
  for (const at of [second, last]) {
    // That eight are so close by chance happens once in a million times.
    assert(Math.max(...at) - Math.min(...at) > 30, `${at}`);
  }
}

async function goesAwayAndComesBack(): Promise<void> {
  const healthy = startDataApiStub(keys());
  await using edgeFunction = await startFunctionOn(healthy, { SECRET_KEY });
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);

  await healthy[Symbol.asyncDispose]();
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), DATABASE_ERROR);

  await using _back = startDataApiStub(
    keys(),
    Number(new URL(healthy.url).port),
  );
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);
}

function nameOf([name, , outcome]: Fault): string {
  const { status } = typeof outcome === "string" ? DATABASE_ERROR : outcome;
  return `fault: ${name} → ${status}`;
}

/** Asks the function while the Data API fails; looks at response, time and requests. */
async function meet(
  [, behave, outcome]: Fault,
  least: number,
  most: number,
): Promise<void> {
  const project = crypto.randomUUID();
  const expected = typeof outcome === "string" ? DATABASE_ERROR : outcome;
  const startedAt = performance.now();
  await assertAnswer(ask(behave, project), expected);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < MAX_MS, `took ${Math.round(tookMs)} ms`);

  const requests =
    dataApi.requests.filter((request) => projectOf(request) === project).length;
  assert(requests >= least && requests <= most, `${requests} requests`);
  await assertAnswer(ask(rows(), project), NOT_FOUND, "the next is healthy");
}

let read = 0;

/** Fails unless the function has logged the failures among these since the last call, and nothing else. */
async function assertLogged(met: Fault[]): Promise<void> {
  const expected = met.map(([, , outcome]) => outcome)
    .filter((outcome) => typeof outcome === "string");
  const lines = await linesOf(edgeFunction, read + expected.length);
  const logged = lines.slice(read).map((line) => {
    const { event, code, status, duration_ms, ...rest } = JSON.parse(line);
    assertEquals([event, rest], ["lookup_failed", {}]);
    assert(duration_ms >= 0 && duration_ms < MAX_MS, line);
    return `${code} ${status}`;
  });
  read = lines.length;
  assertEquals(logged.sort(), expected.sort());
}

/** How long ago the function was asked what it now asks the Data API, in milliseconds. */
function sinceAsked(request: string): number {
  return performance.now() - (askedAt.get(projectOf(request)) ?? NaN);
}

/** Fails as long as it is down, counted from the question, and is healthy afterwards. */
function downFor(ms: number, down: Behaviour): Behaviour {
  return (connection, request) => {
    const behave = sinceAsked(request) < ms ? down : keys();
    return behave(connection, request);
  };
}

/** Waits before it responds. */
function after(ms: number, behave: Behaviour): Behaviour {
  return async (connection, request) => {
    await sleep(ms);
    await behave(connection, request);
  };
}

/** Responds to nothing before that time, counted from the question. */
function lockedFor(ms: number, behave: Behaviour): Behaviour {
  return (connection, request) =>
    after(ms - sinceAsked(request), behave)(connection, request);
}

/** Responds with a row that is compressed, though nobody asked for that. */
function encoded(
  encoding: string,
  encode: (text: string) => Uint8Array,
  status = 200,
): Behaviour {
  return (connection, request) => {
    const row = `[{"project_id":"${projectOf(request)}"}]`;
    const headers = { "Content-Encoding": encoding };
    return respond(status, encode(row), headers)(connection, request);
  };
}

/** Responds with a row in two chunks, without its length. */
function chunked(
  encode: (text: string) => string | Uint8Array,
  encoding = "identity",
): Behaviour {
  return async (connection, request) => {
    const row = encode(`[{"project_id":"${projectOf(request)}"}]`);
    await write(
      connection,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: ${encoding}\r\n\r\n`,
    );
    for (const part of [row.slice(0, 9), row.slice(9)]) {
      await write(connection, `${part.length.toString(16)}\r\n`);
      await write(connection, part);
      await write(connection, "\r\n");
    }
    await write(connection, "0\r\n\r\n");
  };
}
