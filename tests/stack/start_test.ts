/** `deno task start`, as run from a terminal. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  FUNCTION_FOLDER_PATH,
  FUNCTION_PATH,
  SEEDED,
} from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { explain, screen } from "../../tools/stack/screen.ts";
import { copyProject } from "../support/project_copy.ts";
import { ACTIVE, METHOD_NOT_ALLOWED, NOT_FOUND } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { testWith } from "../support/left_out.ts";
import { runLine } from "../support/shell.ts";
import {
  freePort,
  isFree,
  runStart,
  STACK_TRACE,
  startReady,
  until,
} from "../support/start_process.ts";
import { write } from "../support/data_api_stub.ts";
import { exchange, raw } from "../support/wire.ts";

const RESPONSES = `${FUNCTION_FOLDER_PATH}responses.ts`;
const MISTAKE = "const mistake = ;";

// For those that neither end it nor edit the function.
const running = await startReady();
const { base, url } = running;
Deno.test.afterAll(async () => await running[Symbol.asyncDispose]());

Deno.test("start: it prints one screen, and every curl line on it works", async () => {
  const lines = running.output().trim().split("\n");
  assertEquals(
    lines[0],
    "Starting PostgreSQL, the Data API and the edge function ...",
  );
  assertEquals(lines.slice(2, 5), [
    `Ask and add keys in a browser: ${base}`,
    "",
    `API_URL=${base.origin}`,
  ]);
  assert(lines.length <= 20, running.output());
  assertStringIncludes(running.output(), "PUBLISHABLE_KEY=sb_publishable_");
  assertStringIncludes(running.output(), "SECRET_KEY=sb_secret_");

  await assertAnswer(check(SEEDED.project_id, "Amelia#1937", url), NOT_FOUND);
  const statuses = [];
  for (const line of linesOf("curl", running.output())) {
    const { stdout, stderr } = await runLine(line);
    statuses.push(stdout.split("\r\n")[0] || stderr);
  }
  assertEquals(statuses, ["HTTP/1.1 200 OK", "HTTP/1.1 201 Created"]);
  await assertAnswer(check(SEEDED.project_id, "Amelia#1937", url), ACTIVE);
});

/** The lines of a screen that begin with a command. */
const linesOf = (command: string, printed: string) =>
  printed.split("\n").filter((line) => line.startsWith(`${command} `));

Deno.test("start: on Windows, it prints each request for PowerShell and for cmd", () => {
  const printed = screen(LOCAL_SERVICE, "windows");
  const { API_URL, SECRET_KEY } = LOCAL_SERVICE;
  // Windows PowerShell 5.1 sends UTF-8 only when it is told to.
  const json = "-ContentType 'application/json; charset=utf-8'";
  assertEquals(linesOf("Invoke-RestMethod", printed), [
    `Invoke-RestMethod ${API_URL}${FUNCTION_PATH} -Method Post ${json} ` +
    `-Body '{"username":"${SEEDED.username}","project_id":"${SEEDED.project_id}"}'`,
    `Invoke-RestMethod ${API_URL}/rest/v1/activation_keys -Method Post ` +
    `-Headers @{ apikey = '${SECRET_KEY}' } ${json} ` +
    `-Body '{"project_id":"${SEEDED.project_id}","curr_user":"Amelia#1937"}'`,
  ]);
  // The lines for cmd are those that the test above runs.
  const curls = linesOf("curl", screen(LOCAL_SERVICE, "linux"));
  assertEquals(curls.length, 2);
  assertEquals(linesOf("curl", printed), curls);
});

for (
  const [code, os, says] of [
    ["EADDRINUSE", "linux", "`lsof -i :54321`"],
    ["EADDRINUSE", "darwin", "`lsof -i :54321`"],
    ["EADDRINUSE", "windows", "`netstat -ano | findstr :54321`"],
    ["EACCES", "linux", "below 1024"],
    [
      "EACCES",
      "windows",
      "`netsh interface ipv4 show excludedportrange protocol=tcp`",
    ],
  ] as const
) {
  Deno.test(`start: ${code} on ${os} is explained by that system's means`, () => {
    const text = explain(Object.assign(new Error(), { code }), 54321, os);
    assertStringIncludes(text, says);
    assertStringIncludes(text, "--port");
  });
}

Deno.test("start: --help prints the usage", async () => {
  await using start = runStart(["--help"]);
  assertEquals(await start.ended(), 0);
  assertMatch(start.output(), /^Usage: deno task start/);
});

for (
  const args of [
    ["--prot", "54400"],
    ["now"],
    ["--port"],
    ["--port="],
    ["--port", "0x10"],
    ["--port", "1e3"],
    ["--port", " 80"],
    ["--port", "99999"],
    ["--port=-1"],
    ["--help=yes"],
  ]
) {
  Deno.test(`start: rejects ${args.join(" ")} in a sentence, with the usage`, async () => {
    await using start = runStart(args);
    assertEquals(await start.ended(), 1);
    assertStringIncludes(start.output(), "Usage: deno task start");
    assert(!STACK_TRACE.test(start.output()), start.output());
    assert(!start.output().includes("Starting"), start.output());
  });
}

Deno.test("start: a taken port is named, with ways round it", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  await using start = runStart(["--port", `${port}`]);
  assertEquals(await start.ended(), 1);
  assertStringIncludes(start.output(), `Port ${port} is taken`);
  assertMatch(start.output(), /deno task start --port \d+/);
  assert(!STACK_TRACE.test(start.output()), start.output());
});

Deno.test("start: the gateway passes on what HTTP has, and a body that is cut short prints nothing", async () => {
  const printed = running.output();
  const get = (target: string) =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  for (
    const [request, status] of [
      [get(FUNCTION_PATH).replace("GET", "TRACE"), METHOD_NOT_ALLOWED.status],
      [
        get(FUNCTION_PATH).replace("GET", "PROPFIND"),
        METHOD_NOT_ALLOWED.status,
      ],
      // No HTTP method, and so no hosted project's.
      [get(FUNCTION_PATH).replace("GET", "post"), 400],
      [get("/rest/v1/../../x"), 404],
      [get("/rest/v1/%2e%2e/%2E%2e/x"), 404],
      [get(`${FUNCTION_PATH}/../../../x`), 404],
      [get("http://[/"), 404],
    ] as const
  ) {
    const response = await exchange(base, request);
    assert(response.startsWith(`HTTP/1.1 ${status} `), request + response);
  }
  const post = `POST ${FUNCTION_PATH} HTTP/1.1\r\nHost: x\r\n`;
  for (
    const cut of [
      `${post}Content-Length: 100\r\n\r\n{"username"`,
      `${post}Transfer-Encoding: chunked\r\n\r\n64\r\n{"username"`,
      `${post}Content-Le`,
    ]
  ) {
    await raw(base, (connection) => write(connection, cut));
  }
  await assertAnswer(check(SEEDED.project_id, SEEDED.username, url), ACTIVE);
  assertEquals(running.output(), printed);
});

const test = testWith("signals");
test("start: Ctrl-C ends it while a caller holds a half-sent body", async () => {
  await using running = await startReady();
  await raw(running.base, async (connection) => {
    await write(
      connection,
      `POST ${FUNCTION_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`,
    );
    await sleep(300);
    const askedAt = performance.now();
    running.child.kill("SIGINT");
    assertEquals(await running.ended(), 0);
    const tookMs = performance.now() - askedAt;
    assert(tookMs < 5_000, `took ${Math.round(tookMs)} ms`);
  });
  assert(isFree(running.base), "something still listens");
});

Deno.test("start: serves an edit, says what is wrong with a mistake, and serves the fix", async () => {
  await using copy = await copyProject();
  await using running = await startReady(copy.url);
  const answers = async () =>
    await (await check(SEEDED.project_id, "nobody", running.url)).text();
  const { error } = NOT_FOUND.body;

  await copy.edit(RESPONSES, error, "EDITED");
  await running.printed("Reloaded the edge function.");
  assertStringIncludes(await answers(), "EDITED");

  await copy.edit(RESPONSES, /$/, MISTAKE);
  await running.printed("Save a fix");
  assertStringIncludes(running.output(), MISTAKE);
  assert(!running.output().includes("npm registry"), running.output());
  assertStringIncludes(await answers(), "EDITED");

  await copy.edit(RESPONSES, MISTAKE, "");
  await copy.edit(RESPONSES, "EDITED", error);
  await until(
    async () => (await answers()).includes(error),
    running.output,
  );
});

Deno.test("start: reports the file and line of a row that PostgreSQL rejects", async () => {
  await using copy = await copyProject();
  const seed = await copy.edit(
    "supabase/seed.sql",
    SEEDED.project_id,
    "no UUID",
  );
  await using start = runStart(["--port", `${freePort()}`], copy.url);
  assertEquals(await start.ended(), 1);
  const line = seed.split("no UUID")[0]?.split("\n").length;
  assertStringIncludes(
    start.output(),
    `PostgreSQL rejects supabase/seed.sql, line ${line}: invalid input syntax for type uuid: "no UUID"`,
  );
  assert(!STACK_TRACE.test(start.output()), start.output());
});

Deno.test("start: a syntax error in the function prints Deno's message, not a download error", async () => {
  await using copy = await copyProject();
  await copy.edit(RESPONSES, /$/, MISTAKE);
  await using start = runStart(["--port", `${freePort()}`], copy.url);
  assertEquals(await start.ended(), 1);
  assertStringIncludes(start.output(), MISTAKE);
  assert(!start.output().includes("registry"), start.output());
});
