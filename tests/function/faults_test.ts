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
import { assertAnswer } from "../support/assert_answer.ts";
import { check, send } from "../support/send.ts";
import { until } from "../support/start_process.ts";
import type { FunctionProcess } from "../../tools/stack/function_process.ts";
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
const BUDGET_MS = 5_000;
const SLACK_MS = 900;

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const SECRET_KEY = "sb_secret_stub_0123456789abcdef";
interface Fault {
  name: string;
  behave: Behaviour;
  answer: Answer;
  /** The log line's code and status; none when nothing is logged. */
  log?: [code: string, status: number];
  /** How many requests the Data API gets, exactly or at most; not checked when not given. */
  requests?: number;
  atMost?: number;
}

const ROW = { project_id: PROJECT };
const OTHER_ROW = { project_id: crypto.randomUUID() };
const CUT = JSON.stringify([ROW]);

const json = (status: number, body: unknown) =>
  answer(status, JSON.stringify(body));
const error = (status: number, code: string) =>
  json(status, { code, message: "a message", details: null, hint: null });
const html = (status: number) =>
  answer(status, "<h1>Bad gateway</h1>", { "Content-Type": "text/html" });
/** What PostgREST answers to the lookups in flight when PostgreSQL crashes. */
const crashed = json(400, { code: "", details: null, hint: null, message: "" });

const HEALTHY: Fault[] = [
  { name: "a row", behave: keys(), answer: ACTIVE, requests: 1 },
  { name: "no row", behave: rows(), answer: NOT_FOUND, requests: 1 },
  { name: "several rows", behave: keys(2), answer: ACTIVE, requests: 1 },
  {
    name: "slow, but right",
    behave: after(1_500, keys()),
    answer: ACTIVE,
    requests: 1,
  },
  {
    name: "a row that is compressed",
    behave: async (connection, request) => {
      const row = JSON.stringify({ project_id: projectOf(request) });
      await gzipped(["[", row, "]"])(connection, request);
    },
    answer: ACTIVE,
    requests: 1,
  },
];

/** A failure that passes is survived. */
const PASSING: Fault[] = [
  ...[502, 503, 504, 520, 522, 530].map((status): Fault => ({
    name: `one ${status} with HTML`,
    behave: first(html(status), keys()),
    answer: ACTIVE,
    requests: 2,
  })),
  ...["PGRST001", "PGRST002", "57P01"].map((code): Fault => ({
    name: `one 503 ${code}`,
    behave: first(error(503, code), rows()),
    answer: NOT_FOUND,
    requests: 2,
  })),
  {
    name: "one 504 PGRST003, no free connection",
    behave: first(error(504, "PGRST003"), keys()),
    answer: ACTIVE,
    requests: 2,
  },
  {
    name: "one 400 without a code, from a crash of PostgreSQL",
    behave: first(crashed, keys()),
    answer: ACTIVE,
    requests: 2,
  },
  {
    name: "one connection dropped before the answer",
    behave: first(drop, keys()),
    answer: ACTIVE,
  },
  {
    name: "one connection dropped during the answer",
    behave: first(
      (connection) => write(connection, head(200, CUT) + CUT.slice(0, 9)),
      rows(),
    ),
    answer: NOT_FOUND,
    requests: 2,
  },
  {
    name: "one connection dropped during the headers",
    behave: first(
      (connection) => write(connection, "HTTP/1.1 200 OK\r\nContent-"),
      keys(),
    ),
    answer: ACTIVE,
  },
  {
    name: "connections killed: 503 57P01, and PGRST002 for a second",
    behave: first(
      error(503, "57P01"),
      downFor(1_000, error(503, "PGRST002"), keys()),
    ),
    answer: ACTIVE,
  },
  {
    name: "PostgreSQL restarts: 503 PGRST002 for 3 s",
    behave: downFor(3_000, error(503, "PGRST002"), keys()),
    answer: ACTIVE,
    atMost: 6,
  },
  {
    name: "PostgreSQL away for 3 s: 503 PGRST002 for 4 s",
    behave: downFor(4_000, error(503, "PGRST002"), keys()),
    answer: ACTIVE,
    atMost: 6,
  },
  {
    name: "503 for 4.2 s",
    behave: downFor(4_200, error(503, "PGRST002"), keys()),
    answer: ACTIVE,
    atMost: 6,
  },
  {
    name: "down for 3 s: connections dropped",
    behave: downFor(3_000, drop, keys()),
    answer: ACTIVE,
  },
  {
    name: "down for 4.2 s: connections dropped",
    behave: downFor(4_200, drop, keys()),
    answer: ACTIVE,
  },
  {
    name: "down for 4.2 s, and each 502 takes 1.5 s",
    behave: downFor(4_200, after(1_500, html(502)), keys()),
    answer: ACTIVE,
  },
  {
    name: "the table locked for 2 s",
    behave: after(2_000, keys()),
    answer: ACTIVE,
    requests: 1,
  },
];

/** A failure that lasts: a 500 within the budget. */
const LASTING: Fault[] = [
  {
    name: "the table locked: never answers",
    behave: hang,
    answer: DATABASE_ERROR,
    log: ["timeout", 0],
    requests: 1,
  },
  {
    name: "answers byte by byte and never ends",
    behave: async (connection) => {
      await write(connection, head(200, " ".repeat(100_000)));
      for (;;) {
        await write(connection, " ");
        await sleep(50);
      }
    },
    answer: DATABASE_ERROR,
    log: ["timeout", 0],
    requests: 1,
  },
  {
    name: "drops every connection",
    behave: drop,
    answer: DATABASE_ERROR,
    // Some versions of Deno try a dropped connection once more by themselves.
    log: ["unreachable", 0],
  },
  ...[502, 504, 520, 522].map((status): Fault => ({
    name: `${status} always`,
    behave: html(status),
    answer: DATABASE_ERROR,
    log: [`http_${status}`, status],
    atMost: 6,
  })),
  {
    name: "503 PGRST002 always, as after 12 s without PostgreSQL",
    behave: error(503, "PGRST002"),
    answer: DATABASE_ERROR,
    log: ["PGRST002", 503],
    atMost: 6,
  },
  {
    name: "503 always, and asks to come back in an hour",
    behave: answer(503, "", { "Retry-After": "3600" }),
    answer: DATABASE_ERROR,
    log: ["http_503", 503],
    atMost: 6,
  },
  {
    name: "400 without a code always",
    behave: crashed,
    answer: DATABASE_ERROR,
    log: ["http_400", 400],
    atMost: 6,
  },
  {
    name: "503 at first, and no answer to the next attempt",
    behave: first(json(503, {}), hang),
    answer: DATABASE_ERROR,
    log: ["timeout", 0],
    requests: 2,
  },
  // Attempts that were due meanwhile are left out, except for the last, if there is time for it.
  ...([[2_000, 3], [4_500, 2], [4_900, 1]] as const).map((
    [ms, atMost],
  ): Fault => ({
    name: `503 after ${ms} ms, always`,
    behave: after(ms, error(503, "PGRST002")),
    answer: DATABASE_ERROR,
    log: ["PGRST002", 503],
    atMost,
  })),
];

/** What another attempt would not change, is a 500 at once. */
const FINAL: Fault[] = [
  ...[
    [400, "PGRST100"],
    [401, "PGRST301"],
    [401, "PGRST303"],
    [403, "42501"],
    [404, "PGRST205"],
    [404, "42P01"],
    [500, "57014"],
    [500, "XX000"],
    [500, "PGRSTX00"],
    [501, "0A000"],
  ].map(([status, code]): Fault => ({
    name: `${status} ${code}`,
    behave: error(Number(status), `${code}`),
    answer: DATABASE_ERROR,
    log: [`${code}`, Number(status)],
    requests: 1,
  })),
  ...Object.entries({
    "401 without a code": [401, { message: "Invalid API key" }],
    "404 with an array, which supabase-js takes for no rows": [404, []],
    "404 with an array after white space": [404, [], " \n"],
    "500 with JSON null": [500, null],
    "500 with a JSON string": [500, "42501"],
    "500 with an array": [500, [{ code: "42501" }]],
    "400 with a code that is null": [400, { code: null }],
    "400 with a code in small letters": [400, { code: "pgrst100" }],
    "400 with a code and a line break": [400, { code: "42501\n" }],
    "400 with a code of six": [400, { code: "425010" }],
    "400 with a code of PGRST and four": [400, { code: "PGRST1000" }],
    "400 with a code of PGRSTX and three": [400, { code: "PGRSTX000" }],
    "400 with a code that is an object": [400, { code: { a: 1 } }],
    "400 with a code that cannot become text": [400, {
      code: { toString: null },
    }],
    "400 with a code in an array": [400, { code: ["42501"] }],
    "400 with a code that is a number": [400, { code: 42501 }],
  } as Record<string, [number, unknown, string?]>).map((
    [name, [status, body, before = ""]],
  ): Fault => ({
    name,
    behave: answer(status, before + JSON.stringify(body)),
    answer: DATABASE_ERROR,
    log: [`http_${status}`, status],
    requests: 1,
  })),
  {
    name: "404 with nothing, which supabase-js takes for a success",
    behave: answer(404, ""),
    answer: DATABASE_ERROR,
    log: ["http_404", 404],
    requests: 1,
  },
  {
    name: "500 with HTML",
    behave: html(500),
    answer: DATABASE_ERROR,
    log: ["http_500", 500],
    requests: 1,
  },
  {
    name: "an error of 100,000 characters",
    behave: json(400, { code: "XX000", message: "x".repeat(100_000) }),
    answer: DATABASE_ERROR,
    log: ["XX000", 400],
    requests: 1,
  },
  {
    name: "a redirect, which would take the key elsewhere",
    behave: first(answer(307, "", { Location: "/elsewhere" }), keys()),
    answer: DATABASE_ERROR,
    log: ["http_307", 307],
    requests: 1,
  },
  ...Object.entries({
    "HTML": "<h1>Welcome</h1>",
    "nothing": "",
    "an object": JSON.stringify(ROW),
    "an error": JSON.stringify({ code: "42501" }),
    "null": "null",
    "a number": "1",
    "a string": `"${PROJECT}"`,
    "an array of no rows": "[1]",
    "an array of nulls": "[null]",
    "an array of arrays": "[[]]",
    "an empty row": "[{}]",
    "an error in an array": '[{"error":"x"}]',
    "a row of another project": JSON.stringify([OTHER_ROW]),
    "a row of this project and one of another": JSON.stringify([
      ROW,
      OTHER_ROW,
    ]),
    "10 MB of rows": JSON.stringify(Array(200_000).fill(ROW)),
    "cut JSON": CUT.slice(0, -1),
  }).map(([what, body]): Fault => ({
    name: `200 with ${what}`,
    behave: answer(200, (project) => body.replaceAll(PROJECT, project)),
    answer: DATABASE_ERROR,
    log: ["malformed", 200],
    requests: 1,
  })),
  {
    name: "200 with 110 MB of rows in 0.3 MB of gzip",
    behave: gzipped([
      "[",
      ...Array(2_000).fill(`${CUT.slice(1, -1)},`.repeat(1_000)),
      "{}]",
    ]),
    answer: DATABASE_ERROR,
    log: ["malformed", 200],
    requests: 1,
  },
  // Another success is no answer to this query: it may have left rows out.
  ...[201, 202, 203, 206, 226].flatMap((status) => [
    { name: `${status} with a row`, behave: keys(1, status), status },
    { name: `${status} with no row`, behave: answer(status, "[]"), status },
  ]).map(({ status, ...fault }): Fault => ({
    ...fault,
    answer: DATABASE_ERROR,
    log: [`http_${status}`, status],
    requests: 1,
  })),
  {
    name: "204",
    behave: answer(204, ""),
    answer: DATABASE_ERROR,
    log: ["http_204", 204],
    requests: 1,
  },
];

/** Texts that the Data API, or a proxy before it, might send back. */
const ECHOES = [
  SECRET_KEY,
  `Bearer%20${SECRET_KEY}`,
  USER,
  encodeURIComponent(USER),
  "Zo%c3%ab",
  "%22Kirin%22",
  "O''Brien",
].map((text): Fault => ({
  name: `an error that sends back ${text}`,
  behave: json(400, { code: text, message: text, details: text, hint: text }),
  answer: DATABASE_ERROR,
  log: ["http_400", 400],
  requests: 1,
}));

/** What each project's lookups meet. Those of other projects find nothing. */
const behaviours = new Map<string, Behaviour>();
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

for (const fault of [...HEALTHY, ...FINAL, ...ECHOES]) {
  Deno.test(`fault: ${fault.name} → ${fault.answer.status}`, async () => {
    await assertLogged([await meet(fault)]);
  });
}

Deno.test("fault: attempts are spread over the budget, and no two lookups make them together", async () => {
  const attempts = async () => {
    const times: number[] = [];
    const response = ask(async (connection, request) => {
      times.push(performance.now());
      await error(503, "PGRST002")(connection, request);
    });
    await assertAnswer(response, DATABASE_ERROR);
    return times.map((time) => time - (times[0] ?? NaN));
  };
  const [one, other] = await Promise.all([attempts(), attempts()]);
  for (const at of [one, other]) {
    assert(at.length <= 6, `${at}`);
    const last = at.at(-1) ?? NaN;
    assert(last >= 4_200 && last < BUDGET_MS, `${at}`);
  }
  // The first of each is at 0. That four of five others are within a millisecond is not chance.
  const together = one.filter((at, index) =>
    Math.abs(at - (other[index] ?? NaN)) < 1
  );
  assert(together.length < 5, `${one} and ${other}`);
  await logged(2);
});

// These wait for seconds, so they wait together.
Deno.test("fault: those that take seconds", async (context) => {
  const met: Met[] = [];
  await Promise.all([...PASSING, ...LASTING].map((fault) =>
    context.step({
      name: `fault: ${fault.name} → ${fault.answer.status}`,
      fn: async () => void met.push(await meet(fault)),
      sanitizeOps: false,
      sanitizeResources: false,
      sanitizeExit: false,
    })
  ));
  await assertLogged(met);
});

/** A fault that was met, and how long the response took, in milliseconds. */
interface Met {
  fault: Fault;
  tookMs: number;
}

/** Asks the function while the Data API fails; looks at response, time and requests. */
async function meet(fault: Fault): Promise<Met> {
  const project = crypto.randomUUID();
  const startedAt = performance.now();
  await assertAnswer(ask(fault.behave, project), fault.answer);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < BUDGET_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);

  const requests =
    dataApi.requests.filter((request) => projectOf(request) === project).length;
  if (fault.requests) assertEquals(requests, fault.requests);
  if (fault.atMost) assert(requests <= fault.atMost, `${requests} requests`);
  await assertAnswer(
    ask(rows(), project),
    NOT_FOUND,
    "the next request is healthy",
  );
  return { fault, tookMs };
}

let read = 0;

/** The lines that the function has logged since the last call, as many as are expected. */
async function logged(count: number): Promise<Record<string, unknown>[]> {
  const lines = await logLines(edgeFunction, read + count);
  const since = lines.slice(read);
  read = lines.length;
  return since;
}

/** Fails unless the function has logged these faults, each with its duration, and nothing else. */
async function assertLogged(met: Met[]): Promise<void> {
  const lines = await logged(met.filter(({ fault }) => fault.log).length);
  for (const { fault: { name, log }, tookMs } of met) {
    if (!log) continue;
    const [code, status] = log;
    const index = lines.findIndex((line) =>
      line.code === code && line.status === status &&
      Math.abs(Number(line.duration_ms) - tookMs) < SLACK_MS
    );
    assert(index >= 0, `${name}: ${tookMs} ms, ${JSON.stringify(lines)}`);
    const [line] = lines.splice(index, 1);
    assertEquals(Object.keys(line ?? {}), [
      "event",
      "code",
      "status",
      "duration_ms",
    ]);
    assertEquals(line?.event, "lookup_failed");
  }
  assertEquals(lines, []);
}

Deno.test("fault: the Data API goes away and comes back", async () => {
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
});

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
  assertEquals((await logged(100)).length, 100);
  await assertAnswer(ask(keys()), ACTIVE);
});

/** Fails as long as it is down, counted from its first connection, and is healthy afterwards. */
function downFor(ms: number, down: Behaviour, healthy: Behaviour): Behaviour {
  let upAt: number | undefined;
  return (connection, request) => {
    upAt ??= performance.now() + ms;
    return (performance.now() < upAt ? down : healthy)(connection, request);
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
function gzipped(parts: string[]): Behaviour {
  return async (connection, request) => {
    const stream = new Blob(parts).stream()
      .pipeThrough(new CompressionStream("gzip"));
    await answer(200, await new Response(stream).bytes(), {
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
    })(connection, request);
  };
}

/**
 * What the function has logged: everything that it printed, except Deno's own first line. It comes
 * through a pipe, so as many lines as are expected are waited for.
 */
async function logLines(
  { output }: FunctionProcess,
  atLeast: number,
): Promise<Record<string, unknown>[]> {
  const lines = () =>
    output().split("\n").filter((line) =>
      line !== "" && !line.includes("Listening on")
    );
  await until(() => lines().length >= atLeast, () => `Logged only ${output()}`);
  return lines().map((line) => JSON.parse(line));
}
