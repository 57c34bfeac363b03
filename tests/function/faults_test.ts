/** What the function makes of a Data API that fails: an answer in time, a log line, and no leak. */
import { assert, assertEquals } from "@std/assert";
import {
  ACTIVE,
  type Answer,
  assertAnswer,
  check,
  DATABASE_ERROR,
  INVALID_JSON,
  NOT_FOUND,
  send,
} from "../contract/service.ts";
import {
  answer,
  type Behaviour,
  drop,
  first,
  hang,
  head,
  rows,
  startDataApiStub,
  startFunctionOn,
  write,
} from "./data_api_stub.ts";

/** The lookup's budget, with what a loaded machine may add to it. */
const BUDGET_MS = 5_000;
const SLACK_MS = 900;

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = `Zoë "the Ace" Brückner+#4821&curr_user=eq.x`;
const SECRET_KEY = "sb_secret_stub_0123456789abcdef";
const ROW = { project_id: PROJECT };

/** What may be in no output: the user's name, in any spelling, and the key. */
const UNSPEAKABLE = /Br(ü|u|%C3%BC|\\u00fc|&uuml;)ckner|stub_0123456789/i;

interface Fault {
  name: string;
  behave: Behaviour;
  answer: Answer;
  /** The log line's code; none when nothing is logged. */
  code?: string;
  /** The log line's message, where it matters. */
  message?: string;
  /** How many requests the Data API gets; not checked when not given. */
  requests?: number;
}

const json = (status: number, body: unknown) =>
  answer(status, JSON.stringify(body));
const html = (status: number) =>
  answer(status, `<h1>Zoë Brückner+</h1>`, { "Content-Type": "text/html" });
const CUT = JSON.stringify([ROW]);

const FAULTS: Fault[] = [
  // Nothing fails.
  {
    name: "a row",
    behave: rows(ROW),
    answer: ACTIVE,
    requests: 1,
  },
  { name: "no row", behave: rows(), answer: NOT_FOUND, requests: 1 },
  { name: "several rows", behave: rows(ROW, ROW), answer: ACTIVE, requests: 1 },
  {
    name: "slow, but right",
    behave: async (connection) => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await rows(ROW)(connection);
    },
    answer: ACTIVE,
    requests: 1,
  },

  // One failure is survived.
  {
    name: "one 503",
    behave: first(json(503, { code: "PGRST002", message: "down" }), rows(ROW)),
    answer: ACTIVE,
    requests: 2,
  },
  {
    name: "one connection dropped before the answer",
    behave: first(drop, rows(ROW)),
    answer: ACTIVE,
  },
  {
    name: "one connection dropped amid the answer",
    behave: first(
      (connection) => write(connection, head(200, CUT) + CUT.slice(0, 9)),
      rows(),
    ),
    answer: NOT_FOUND,
    requests: 2,
  },
  {
    name: "one connection dropped amid the head",
    behave: first(
      (connection) => write(connection, "HTTP/1.1 200 OK\r\nContent-"),
      rows(ROW),
    ),
    answer: ACTIVE,
  },

  // It does not answer.
  {
    name: "never answers",
    behave: hang,
    answer: DATABASE_ERROR,
    code: "timeout",
    requests: 1,
  },
  {
    name: "answers byte by byte and never ends",
    behave: async (connection) => {
      await write(connection, head(200, " ".repeat(100_000)));
      for (;;) {
        await write(connection, " ");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    answer: DATABASE_ERROR,
    code: "timeout",
    requests: 1,
  },
  {
    name: "drops every connection",
    behave: drop,
    answer: DATABASE_ERROR,
    code: "unreachable",
  },
  {
    name: "503 always",
    behave: json(503, { code: "PGRST002", message: "down" }),
    answer: DATABASE_ERROR,
    code: "PGRST002",
    message: "down",
    requests: 4,
  },
  {
    name: "503 always, and asks to come back in an hour",
    behave: answer(503, "", { "Retry-After": "3600" }),
    answer: DATABASE_ERROR,
    code: "http_503",
    requests: 4,
  },
  {
    name: "503 at first, and no answer to the next attempt",
    behave: first(json(503, {}), hang),
    answer: DATABASE_ERROR,
    code: "timeout",
    requests: 2,
  },
  {
    name: "503 so late that the pause outlasts the budget",
    behave: async (connection) => {
      await new Promise((resolve) => setTimeout(resolve, 2_300));
      await answer(503, "")(connection);
    },
    answer: DATABASE_ERROR,
    code: "timeout",
    requests: 2,
  },

  // It refuses.
  {
    name: "401, a bad key",
    behave: json(401, { message: "Invalid API key", hint: SECRET_KEY }),
    answer: DATABASE_ERROR,
    code: "http_401",
    requests: 1,
  },
  {
    name: "403, no privilege",
    behave: json(403, {
      code: "42501",
      message: "permission denied for table activation_keys",
      details: null,
      hint: null,
    }),
    answer: DATABASE_ERROR,
    code: "42501",
    message: "permission denied for table activation_keys",
    requests: 1,
  },
  {
    name: "404, no such table",
    behave: json(404, { code: "PGRST205", message: "no such table" }),
    answer: DATABASE_ERROR,
    code: "PGRST205",
    message: "no such table",
    requests: 1,
  },
  {
    name: "404 with an array, which supabase-js takes for no rows",
    behave: json(404, []),
    answer: DATABASE_ERROR,
    code: "http_502",
    requests: 1,
  },
  {
    name: "404 with nothing, which supabase-js takes for a success",
    behave: answer(404, ""),
    answer: DATABASE_ERROR,
    code: "malformed",
    requests: 1,
  },
  {
    name: "500 with JSON",
    behave: json(500, { code: "57014", message: "canceling statement" }),
    answer: DATABASE_ERROR,
    code: "57014",
    message: "canceling statement",
    requests: 1,
  },
  {
    name: "500 with HTML",
    behave: html(500),
    answer: DATABASE_ERROR,
    code: "http_500",
    requests: 1,
  },
  {
    name: "500 with JSON null",
    behave: json(500, null),
    answer: DATABASE_ERROR,
    code: "http_500",
    requests: 1,
  },
  {
    name: "an error of 100,000 characters",
    behave: json(400, { code: "XX000", message: "x".repeat(100_000) }),
    answer: DATABASE_ERROR,
    code: "XX000",
    message: "x".repeat(1_000),
    requests: 1,
  },
  {
    name: "an error that quotes the request",
    behave: json(400, {
      code: "XX000",
      message: `no ${USER}, key ${SECRET_KEY}`,
    }),
    answer: DATABASE_ERROR,
    code: "XX000",
    message: "(withheld: it quotes the request)",
    requests: 1,
  },
  {
    name: "an error that quotes the request's address",
    behave: json(400, {
      code: "XX000",
      message: `/rest/v1/?curr_user=eq.${encodeURIComponent(USER)}`,
    }),
    answer: DATABASE_ERROR,
    code: "XX000",
    message: "(withheld: it quotes the request)",
    requests: 1,
  },
  {
    name: "a redirect, which would take the key elsewhere",
    behave: first(
      answer(307, "", { Location: "/elsewhere" }),
      rows(ROW),
    ),
    answer: DATABASE_ERROR,
    code: "http_307",
    requests: 1,
  },

  // It answers nonsense.
  ...Object.entries({
    "HTML": "<h1>Welcome</h1>",
    "nothing": "",
    "an object": JSON.stringify(ROW),
    "null": "null",
    "a number": "1",
    "a string": `"${PROJECT}"`,
    "an array of no rows": "[1]",
    "an array of nulls": "[null]",
    "an array of arrays": "[[]]",
    "cut JSON": CUT.slice(0, -1),
  }).map(([what, body]): Fault => ({
    name: `200 with ${what}`,
    behave: answer(200, body),
    answer: DATABASE_ERROR,
    code: "malformed",
    requests: 1,
  })),
  {
    name: "200 with 10 MB of rows",
    behave: json(200, Array(10 * 1024 * 1024 / 64).fill(ROW)),
    answer: ACTIVE,
    requests: 1,
  },
];

Deno.test("fault: the Data API is asked one small question, with the key", async () => {
  await using dataApi = startDataApiStub(rows(ROW));
  await using edgeFunction = await startFunctionOn(dataApi, SECRET_KEY);
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);

  const [request] = dataApi.requests;
  const { pathname, searchParams } = new URL(request.split(" ")[1], "http://x");
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

for (const fault of FAULTS) {
  Deno.test(`fault: ${fault.name} → ${fault.answer.status}`, async () => {
    await using dataApi = startDataApiStub(fault.behave);
    await using edgeFunction = await startFunctionOn(dataApi, SECRET_KEY);

    const startedAt = performance.now();
    await assertAnswer(check(PROJECT, USER, edgeFunction.url), fault.answer);
    const tookMs = performance.now() - startedAt;
    assert(tookMs < BUDGET_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);
    if (fault.requests) assertEquals(dataApi.requests.length, fault.requests);

    dataApi.behave = rows();
    await assertAnswer(
      check(PROJECT, USER, edgeFunction.url),
      NOT_FOUND,
      "the next request is healthy",
    );

    const lines = logLines(edgeFunction.output());
    assertEquals(
      lines.map(({ event, code }) => [event, code]),
      fault.code ? [["lookup_failed", fault.code]] : [],
    );
    for (const { message, duration_ms } of lines) {
      if (fault.message) assertEquals(message, fault.message);
      assert(
        Math.abs(Number(duration_ms) - tookMs) < SLACK_MS,
        `${duration_ms}`,
      );
    }
    assert(!UNSPEAKABLE.test(edgeFunction.output()), edgeFunction.output());
  });
}

Deno.test("fault: a short name withholds a message that quotes it, and no other", async () => {
  for (
    const [name, message, logged] of [
      ["a", "permission denied for table activation_keys"],
      ["E", "permission denied for table activation_keys"],
      ["a", 'no user "a"', "(withheld: it quotes the request)"],
      ["a", "/?curr_user=eq.a&limit=1", "(withheld: it quotes the request)"],
      ["a", "aha: a", "(withheld: it quotes the request)"],
      ["#1", "no a#1", "(withheld: it quotes the request)"],
      ["山田", "山田はいません", "(withheld: it quotes the request)"],
    ]
  ) {
    await using dataApi = startDataApiStub(
      json(403, { code: "42501", message }),
    );
    await using edgeFunction = await startFunctionOn(dataApi, SECRET_KEY);
    await assertAnswer(check(PROJECT, name, edgeFunction.url), DATABASE_ERROR);
    const [line] = logLines(edgeFunction.output());
    assertEquals([line.code, line.message], ["42501", logged ?? message]);
  }
});

Deno.test("fault: the Data API goes away and comes back", async () => {
  const healthy = startDataApiStub(rows(ROW));
  await using edgeFunction = await startFunctionOn(healthy, SECRET_KEY);
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);

  await healthy[Symbol.asyncDispose]();
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), DATABASE_ERROR);

  await using _back = startDataApiStub(
    rows(ROW),
    Number(new URL(healthy.url).port),
  );
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);
});

Deno.test("fault: a hundred callers at once all get their 500 in time, and bad input its 400 at once", async () => {
  await using dataApi = startDataApiStub(hang);
  await using edgeFunction = await startFunctionOn(dataApi, SECRET_KEY);

  const startedAt = performance.now();
  const answers = Array.from(
    { length: 100 },
    () => assertAnswer(check(PROJECT, USER, edgeFunction.url), DATABASE_ERROR),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));

  const askedAt = performance.now();
  await assertAnswer(send({ body: "{" }, edgeFunction.url), INVALID_JSON);
  const badInputMs = performance.now() - askedAt;
  assert(badInputMs < SLACK_MS, `bad input took ${Math.round(badInputMs)} ms`);

  await Promise.all(answers);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < BUDGET_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);
  assertEquals(logLines(edgeFunction.output()).length, 100);

  dataApi.behave = rows(ROW);
  await assertAnswer(check(PROJECT, USER, edgeFunction.url), ACTIVE);
});

/** What the function has logged: everything that it printed, but for Deno's own first line. */
function logLines(output: string): Record<string, unknown>[] {
  return output.split("\n").filter((line) =>
    line !== "" && !line.includes("Listening on")
  ).map((line) => JSON.parse(line));
}
