/** What the function does when the Data API fails: an answer in time, one log line, and no leak. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import {
  ACTIVE,
  type Answer,
  DATABASE_ERROR,
  INVALID_JSON,
  NOT_FOUND,
} from "../support/answers.ts";
import { assertAnswer, check, send } from "../support/requests.ts";
import { LIMITS } from "../support/limits.ts";
import { until } from "../support/start_process.ts";
import {
  answer,
  type Behaviour,
  drop,
  first,
  hang,
  head,
  keys,
  projectOf,
  rows,
  startDataApiStub,
  startFunctionOn,
  write,
} from "../support/data_api_stub.ts";

/** The lookup's budget, with what a loaded machine may add to it. */
const { budgetMs: BUDGET_MS, attempts: MAX_ATTEMPTS } = LIMITS;
const [FIRST_LAST_MS] = LIMITS.lastAttemptMs;
const SLACK_MS = 900;

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const SECRET_KEY = "sb_secret_stub_0123456789abcdef";

/**
 * A Data API that fails: what it does, and what becomes of the lookup. A text is a 500, and the code
 * and the status of its log line.
 */
type Fault = [name: string, behave: Behaviour, outcome: Answer | string];

const ROW = JSON.stringify({ project_id: PROJECT });
const OTHER_ROW = JSON.stringify({ project_id: crypto.randomUUID() });

const json = (status: number, body: unknown) =>
  answer(status, JSON.stringify(body));
const error = (status: number, code: string) =>
  json(status, { code, message: "a message", details: null, hint: null });
const html = (status: number) =>
  answer(status, "<h1>Bad gateway</h1>", { "Content-Type": "text/html" });
const cut = (text: string): Behaviour => (connection) =>
  write(connection, text);
/** What PostgREST answers to the lookups in flight when PostgreSQL crashes. */
const crashed = json(400, { code: "", details: null, hint: null, message: "" });
const unavailable = error(503, "PGRST002");

/** The first attempt decides. */
const ONE_REQUEST: Fault[] = [
  ["a row", keys(), ACTIVE],
  ["no row", rows(), NOT_FOUND],
  ["several rows", keys(2), ACTIVE],
  ["a row that is compressed", gzipped(() => ["[", ROW, "]"]), ACTIVE],

  // What another attempt would not change, is a 500 at once.
  ...[
    "PGRST100 400",
    "PGRST301 401",
    "PGRST303 401",
    "42501 403",
    "PGRST205 404",
    "42P01 404",
    "57014 500",
    "XX000 500",
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
    "500 with an array": [{ code: "42501" }],
    "400 with a code that is null": { code: null },
    "400 with a code in small letters": { code: "pgrst100" },
    "400 with a code and a line break": { code: "42501\n" },
    "400 with a code of six": { code: "425010" },
    "400 with a code of PGRST and four": { code: "PGRST1000" },
    "400 with a code of PGRSTX and three": { code: "PGRSTX000" },
    "400 with a code that is an object": { code: { a: 1 } },
    "400 with a code that cannot become text": { code: { toString: null } },
    "400 with a code in an array": { code: ["42501"] },
    "400 with a code that is a number": { code: 42501 },
  }).map(([name, body]): Fault => {
    const status = name.slice(0, 3);
    return [name, json(Number(status), body), `http_${status} ${status}`];
  }),
  ["404 with an array after white space", answer(404, " \n[]"), "http_404 404"],
  // To supabase-js, a success.
  ["404 with nothing", answer(404, ""), "http_404 404"],
  ["500 with HTML", html(500), "http_500 500"],
  [
    "an error of 100,000 characters",
    json(400, { code: "XX000", message: "x".repeat(100_000) }),
    "XX000 400",
  ],
  [
    "a redirect, which would take the key elsewhere",
    first(answer(307, "", { Location: "/elsewhere" }), keys()),
    "http_307 307",
  ],
  ...Object.entries({
    "HTML": "<h1>Welcome</h1>",
    "nothing": "",
    "an object": ROW,
    "an error": JSON.stringify({ code: "42501" }),
    "null": "null",
    "a number": "1",
    "a string": `"${PROJECT}"`,
    "an array of no rows": "[1]",
    "an array of nulls": "[null]",
    "an array of arrays": "[[]]",
    "an empty row": "[{}]",
    "an error in an array": '[{"error":"x"}]',
    "a row of another project": `[${OTHER_ROW}]`,
    "a row of this project and one of another": `[${ROW},${OTHER_ROW}]`,
    "10 MB of rows": `[${`${ROW},`.repeat(200_000)}${ROW}]`,
    "cut JSON": `[${ROW}`,
  }).map(([what, body]): Fault => [
    `200 with ${what}`,
    answer(200, (project) => body.replaceAll(PROJECT, project)),
    "malformed 200",
  ]),
  [
    "200 with 110 MB of rows in 0.3 MB of gzip",
    gzipped(() => [
      "[",
      ...Array(2_000).fill(`${ROW},`.repeat(1_000)),
      `${ROW}]`,
    ]),
    "malformed 200",
  ],
  // Another success is no answer to this query: it may have left rows out.
  ...[201, 202, 203, 206, 226].flatMap((status): Fault[] => [
    [`${status} with a row`, keys(1, status), `http_${status} ${status}`],
    [`${status} with no row`, answer(status, "[]"), `http_${status} ${status}`],
  ]),
  ["204", answer(204, ""), "http_204 204"],
  // Texts that the Data API, or a proxy before it, might send back.
  ...[
    SECRET_KEY,
    `Bearer%20${SECRET_KEY}`,
    USER,
    encodeURIComponent(USER),
    "Zo%c3%ab",
    "%22Kirin%22",
    "O''Brien",
  ].map((text): Fault => [
    `an error that sends back ${text}`,
    json(400, { code: text, message: text, details: text, hint: text }),
    "http_400 400",
  ]),
];

/** The second attempt decides. */
const TWO_REQUESTS: Fault[] = [
  ...[502, 503, 504, 520, 522, 530].map((status): Fault => [
    `one ${status} with HTML`,
    first(html(status), keys()),
    ACTIVE,
  ]),
  ...["503 PGRST001", "503 PGRST002", "503 57P01", "504 PGRST003"].map((
    one,
  ): Fault => {
    const [status, code = ""] = one.split(" ");
    return [
      `one ${one}`,
      first(error(Number(status), code), rows()),
      NOT_FOUND,
    ];
  }),
  ["one 400 from a crash of PostgreSQL", first(crashed, keys()), ACTIVE],
  [
    "one connection dropped during the answer",
    first(cut(head(200, `[${ROW}]`) + "["), rows()),
    NOT_FOUND,
  ],
  ["one 503, and then no response", first(json(503, {}), hang), "timeout 0"],
];

/** Up to six attempts. Some versions of Deno repeat one whose connection was dropped. */
const MORE_REQUESTS: Fault[] = [
  ["slow, but right", after(1_500, keys()), ACTIVE],
  ["the table locked for 2 s", after(2_000, keys()), ACTIVE],
  ["one connection dropped before the answer", first(drop, keys()), ACTIVE],
  [
    "one connection dropped during the headers",
    first(cut("HTTP/1.1 200 OK\r\nContent-"), keys()),
    ACTIVE,
  ],
  [
    "connections killed: 503 57P01, and PGRST002 for a second",
    first(error(503, "57P01"), downFor(1_000, unavailable)),
    ACTIVE,
  ],
  ["503 for 3 s: PostgreSQL restarts", downFor(3_000, unavailable), ACTIVE],
  ["503 for 4 s: it was away for 3 s", downFor(4_000, unavailable), ACTIVE],
  ["503 for 4.2 s", downFor(4_200, unavailable), ACTIVE],
  ["400 from a crash for 4.2 s", downFor(4_200, crashed), ACTIVE],
  ["down for 3 s: connections dropped", downFor(3_000, drop), ACTIVE],
  ["down for 4.2 s: connections dropped", downFor(4_200, drop), ACTIVE],
  [
    "down for 4.2 s, and each 502 takes 1.5 s",
    downFor(4_200, after(1_500, html(502))),
    ACTIVE,
  ],

  // A failure that lasts: a 500 within the budget.
  ["the table locked: never answers", hang, "timeout 0"],
  [
    "answers byte by byte and never ends",
    async (connection) => {
      await write(connection, head(200, " ".repeat(100_000)));
      for (;;) {
        await write(connection, " ");
        await sleep(50);
      }
    },
    "timeout 0",
  ],
  ["drops every connection", drop, "unreachable 0"],
  [
    "drops every connection, and hangs at the last",
    async (connection, request) => {
      if (sinceAsked(request) >= FIRST_LAST_MS) await hang(connection);
    },
    "unreachable 0",
  ],
  ...[502, 504, 520, 522].map((status): Fault => [
    `${status} always`,
    html(status),
    `http_${status} ${status}`,
  ]),
  ["503 always, as after 12 s without PostgreSQL", unavailable, "PGRST002 503"],
  [
    "503 always, with Retry-After",
    answer(503, "", { "Retry-After": "3600" }),
    "http_503 503",
  ],
  ["400 without a code always", crashed, "http_400 400"],
  // An attempt that cannot end in time is not begun, or at least not what is logged.
  ...[2_000, 4_400, 4_700].map((ms): Fault => [
    `503 after ${ms} ms, always`,
    after(ms, unavailable),
    "PGRST002 503",
  ]),
];

/** What each project's lookups meet. Those of other projects find nothing. */
const behaviours = new Map<string, Behaviour>();
const askedAt = new Map<string, number>();
const dataApi = startDataApiStub((connection, request) =>
  (behaviours.get(projectOf(request)) ?? rows())(connection, request)
);
const edgeFunction = await startFunctionOn(dataApi, SECRET_KEY);
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
  assert(request.toLowerCase().includes(`apikey: ${SECRET_KEY}`), request);
});

for (const fault of ONE_REQUEST) {
  Deno.test(nameOf(fault), async () => {
    await assertLogged([await meet(fault, 1, 1)]);
  });
}

// These wait for seconds, so they wait together. Not all at once: a slow machine could not start so
// many connections in time.
Deno.test("fault: those that take seconds", async (context) => {
  const met: Met[] = [];
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
    step(
      nameOf(fault),
      async () => void met.push(await meet(fault, least, most)),
    );
  await Promise.all([
    ...TWO_REQUESTS.map(meets(2, 2)),
    ...MORE_REQUESTS.map(meets(1, 2 * MAX_ATTEMPTS)),
    step("fault: attempts are spread, and not together", attemptsAreSpread),
    step("fault: the Data API goes away and comes back", goesAwayAndComesBack),
  ]);
  await assertLogged(met, ["PGRST002 503", "PGRST002 503"]);
});

async function attemptsAreSpread(): Promise<void> {
  const attempts = async () => {
    const times: number[] = [];
    const startedAt = performance.now();
    const response = ask(async (connection, request) => {
      times.push(performance.now());
      await unavailable(connection, request);
    });
    await assertAnswer(response, DATABASE_ERROR);
    return times.map((time) => time - startedAt);
  };
  const [one, other] = await Promise.all([attempts(), attempts()]);
  for (const at of [one, other]) {
    assert(at.length <= MAX_ATTEMPTS, `${at}`);
    const last = at.at(-1) ?? NaN;
    assert(last >= 4_200 && last < BUDGET_MS, `${at}`);
  }
  // The first of each may be. That four of five others are within a millisecond is not chance.
  const together = one.filter((at, index) =>
    Math.abs(at - (other[index] ?? NaN)) < 1
  );
  assert(together.length < 5, `${one} and ${other}`);
}

async function goesAwayAndComesBack(): Promise<void> {
  const healthy = startDataApiStub(keys());
  await using edgeFunction = await startFunctionOn(healthy, SECRET_KEY);
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);

  await healthy[Symbol.asyncDispose]();
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), DATABASE_ERROR);

  await using _back = startDataApiStub(
    keys(),
    Number(new URL(healthy.url).port),
  );
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);
}

Deno.test("fault: a hundred callers at once all get their 500 in time, and bad input its 400 at once", async () => {
  const startedAt = performance.now();
  const answers = Array.from(
    { length: 100 },
    () => assertAnswer(ask(hang), DATABASE_ERROR),
  );
  await sleep(500);

  const askedAt = performance.now();
  await assertAnswer(send({ body: "{" }, edgeFunction.url), INVALID_JSON);
  const badInputMs = performance.now() - askedAt;
  assert(badInputMs < SLACK_MS, `bad input took ${Math.round(badInputMs)} ms`);

  await Promise.all(answers);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < BUDGET_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);
  await assertAnswer(ask(keys()), ACTIVE);
  await assertLogged([], Array(100).fill("timeout 0"));
});

/** A fault that was met: its log line, if any, and how long the response took, in milliseconds. */
interface Met {
  name: string;
  log: string | undefined;
  tookMs: number;
}

function nameOf([name, , outcome]: Fault): string {
  const { status } = typeof outcome === "string" ? DATABASE_ERROR : outcome;
  return `fault: ${name} → ${status}`;
}

/** Asks the function while the Data API fails; looks at response, time and requests. */
async function meet(
  [name, behave, outcome]: Fault,
  least: number,
  most: number,
): Promise<Met> {
  const project = crypto.randomUUID();
  const expected = typeof outcome === "string" ? DATABASE_ERROR : outcome;
  const startedAt = performance.now();
  await assertAnswer(ask(behave, project), expected);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < BUDGET_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);

  const requests =
    dataApi.requests.filter((request) => projectOf(request) === project).length;
  assert(requests >= least && requests <= most, `${requests} requests`);
  await assertAnswer(ask(rows(), project), NOT_FOUND, "the next is healthy");
  return {
    name,
    tookMs,
    log: typeof outcome === "string" ? outcome : undefined,
  };
}

let read = 0;

/**
 * Fails unless the function has logged these faults since the last call, each with its duration,
 * and then these lines of others, and nothing else.
 */
async function assertLogged(met: Met[], others: string[] = []): Promise<void> {
  const count = met.filter(({ log }) => log).length + others.length;
  // It comes through a pipe, so as many lines as are expected are waited for.
  const lines = () =>
    edgeFunction.output().split("\n").filter((line) =>
      line !== "" && !line.includes("Listening on")
    ).slice(read);
  await until(() => lines().length >= count, edgeFunction.output);
  const logged = lines().map((line) => JSON.parse(line));
  read += logged.length;

  const missing = met.filter(({ log }) => log !== undefined);
  const unexpected: string[] = [];
  for (const line of logged) {
    const { event, code, status, duration_ms, ...rest } = line;
    assertEquals([event, rest], ["lookup_failed", {}]);
    const log = `${code} ${status}`;
    const index = missing.findIndex((fault) =>
      fault.log === log && Math.abs(duration_ms - fault.tookMs) < SLACK_MS
    );
    const other = others.indexOf(log);
    if (index >= 0) missing.splice(index, 1);
    else if (other >= 0) others.splice(other, 1);
    else unexpected.push(`${log} after ${duration_ms} ms`);
  }
  assertEquals({ missing, others, unexpected }, {
    missing: [],
    others: [],
    unexpected: [],
  });
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

/** Waits before it answers. */
function after(ms: number, behave: Behaviour): Behaviour {
  return async (connection, request) => {
    await sleep(ms);
    await behave(connection, request);
  };
}

/** Answers 200 with a text, in parts, compressed. */
function gzipped(parts: () => string[]): Behaviour {
  return async (connection, request) => {
    const project = projectOf(request);
    const text = parts().map((part) => part.replaceAll(PROJECT, project));
    const stream = new Blob(text).stream()
      .pipeThrough(new CompressionStream("gzip"));
    await answer(200, await new Response(stream).bytes(), {
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
    })(connection, request);
  };
}
