/** `deno task start`, as run from a terminal. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  FUNCTION_FOLDER_PATH,
  FUNCTION_PATH,
  SEEDED,
} from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { explain, screen } from "../../tools/stack/screen.ts";
import { ACTIVE, METHOD_NOT_ALLOWED, NOT_FOUND } from "../support/answers.ts";
import { testWith } from "../support/left_out.ts";
import { copyProject } from "../support/project_copy.ts";
import { assertAnswer, check } from "../support/requests.ts";
import {
  freePort,
  READY,
  runLine,
  runStart,
  STACK_TRACE,
  until,
  watchProcess,
} from "../support/start_process.ts";
import { exchange, raw, write } from "../support/wire.ts";

// One process for most of these. It runs a copy of the project, which they may edit.
const copy = await copyProject();
const port = freePort();
const running = runStart(["--port", `${port}`], copy.url);
await running.printed(READY);
const base = new URL(`http://127.0.0.1:${port}`);
const url = new URL(FUNCTION_PATH, base);
Deno.test.afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await copy[Symbol.asyncDispose]();
});

Deno.test("start: it prints one screen, and every curl line on it works", async () => {
  const printed = running.output();
  assert(printed.trim().split("\n").length <= 20, printed);
  assertStringIncludes(printed, ` in a browser: ${base}\n`);
  assertStringIncludes(printed, `\nAPI_URL=${base.origin}\n`);
  assertStringIncludes(printed, "\nPUBLISHABLE_KEY=sb_publishable_");
  assertStringIncludes(printed, "\nSECRET_KEY=sb_secret_");

  await assertAnswer(check(SEEDED.project_id, "Amelia#1937", url), NOT_FOUND);
  const statuses = [];
  for (const line of linesOf("curl", printed)) {
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
  // README.md has the first one, and a test compares the two.
  const [_ask, add = "", ...others] = linesOf("Invoke-RestMethod", printed);
  assertEquals(others, []);
  const key = `-Headers @{ apikey = '${LOCAL_SERVICE.SECRET_KEY}' }`;
  // Windows PowerShell 5.1 sends UTF-8 only when it is told to.
  const type = "-ContentType 'application/json; charset=utf-8'";
  assertStringIncludes(add, `-Method Post ${key} ${type} -Body '{`);
  // The lines for cmd are those that the test above runs.
  const curls = linesOf("curl", screen(LOCAL_SERVICE, "linux"));
  assertEquals(linesOf("curl", printed), curls);
});

Deno.test("start: a port that it cannot take is explained by each system's means", () => {
  for (
    const [code, os, says] of [
      ["EADDRINUSE", "linux", "lsof -i :54321"],
      ["EADDRINUSE", "windows", "netstat -ano | findstr :54321"],
      ["EACCES", "linux", "below 1024"],
      ["EACCES", "windows", "netsh interface ipv4 show excludedportrange"],
    ] as const
  ) {
    const text = explain(Object.assign(new Error(), { code }), 54321, os);
    assertStringIncludes(text, says);
    assertStringIncludes(text, "--port");
  }
});

Deno.test("start: says what is wrong with its arguments, or that the port is taken", async () => {
  const usage = "Usage: deno task start";
  for (
    const [args, code, says] of [
      ["--help", 0, usage],
      ["--prot 54400", 1, usage],
      ["--port 0x10", 1, usage],
      ["--port 99999", 1, usage],
      [`--port ${port}`, 1, `Port ${port} is taken`],
    ] as const
  ) {
    await using start = runStart(args.split(" "));
    assertEquals(await start.ended(), code);
    assertStringIncludes(start.output(), says);
    assert(!STACK_TRACE.test(start.output()), start.output());
    assertEquals(start.output().includes("Starting"), says !== usage);
  }
});

Deno.test("start: the gateway passes on any method, and nothing to other paths", async () => {
  const page = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  for (
    const [method, path, status] of [
      ["TRACE", FUNCTION_PATH, METHOD_NOT_ALLOWED.status],
      ["GET", "/rest/v1/../../x", 404],
      ["GET", "/rest/v1/%2e%2e/%2E%2e/x", 404],
      ["GET", `${FUNCTION_PATH}/../../../x`, 404],
      ["GET", "http://[/", 404],
      ["GET", "/docs", 404],
      ["GET", "/swagger-ui.js", 404],
      ["POST", "/", 404],
    ] as const
  ) {
    const request = page.replace("GET /", `${method} ${path}`);
    const response = await exchange(base, request);
    assert(response.startsWith(`HTTP/1.1 ${status} `), request + response);
    assertStringIncludes(response, status === 404 ? '{"message":"' : "error");
  }
});

Deno.test("start: a request that is cut short prints nothing", async () => {
  const printed = running.output();
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

const get = (path: string, init?: RequestInit) =>
  fetch(new URL(path, base), init);

Deno.test("page: its files are there, with their types", async () => {
  const page = await (await get("/")).text();
  const names = page.matchAll(/(?:href=|src=|url: )"([^"]*)"/g);
  const types = [];
  for (const path of ["/", ...names.map(([, name = ""]) => name)]) {
    const response = await get(path);
    assertEquals([response.status, await response.text() === ""], [200, false]);
    types.push(response.headers.get("content-type"));
  }
  assertEquals(types, [
    "text/html; charset=utf-8",
    "image/png",
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/javascript; charset=utf-8",
    "application/yaml",
    "application/yaml",
  ]);
});

Deno.test("page: an edit of openapi.yaml shows", async () => {
  const path = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
  await copy.edit(path, "title: ", "title: EDITED ");
  const served = await (await get("/openapi.yaml")).text();
  assertStringIncludes(served, "title: EDITED ");
});

Deno.test("page: a browser's secret key is taken from the page alone", async () => {
  const statuses = [];
  for (const site of ["", "cross-site", "same-site", "same-origin"]) {
    const response = await get("/rest/v1/activation_keys", {
      headers: {
        "User-Agent": "Mozilla/5.0 (X11; Linux x86_64)",
        apikey: LOCAL_SERVICE.SECRET_KEY,
        "Sec-Fetch-Site": site,
      },
    });
    await response.body?.cancel();
    statuses.push(response.status);
  }
  assertEquals(statuses, [401, 401, 401, 200]);
});

const RESPONSES = `${FUNCTION_FOLDER_PATH}responses.ts`;
const nobody = async () =>
  await (await check(SEEDED.project_id, "nobody", url)).text();

Deno.test("start: serves an edit, says what is wrong with a mistake, and serves the fix", async () => {
  const MISTAKE = "const mistake = ;";
  const { error } = NOT_FOUND.body;
  await copy.edit(RESPONSES, error, "EDITED");
  await running.printed("Reloaded the edge function.");
  assertStringIncludes(await nobody(), "EDITED");

  await copy.edit(RESPONSES, /$/, MISTAKE);
  await running.printed("Save a fix");
  assertStringIncludes(running.output(), MISTAKE);
  assertStringIncludes(await nobody(), "EDITED");

  using watch = watchProcess();
  const HANG = `${watch.source} for (;;);`;
  await copy.edit(RESPONSES, MISTAKE, HANG);
  await watch.is("booting");
  assertStringIncludes(await nobody(), "EDITED");

  await copy.edit(RESPONSES, HANG, "");
  await copy.edit(RESPONSES, "EDITED", error);
  await until(async () => (await nobody()).includes(error), running.output);
  // The fix did not wait for that boot.
  assert(!running.output().includes("not ready"), running.output());
});

Deno.test("start: returns 502 while a crashed function restarts", async () => {
  const CRASH = `setTimeout(() => Deno.exit(7), 500);`;
  const ask = () => check(SEEDED.project_id, "nobody", url);
  const printed = running.output().length;
  const output = () => running.output().slice(printed);
  await copy.edit(RESPONSES, /$/, CRASH);
  await until(async () => {
    const response = await ask();
    const { message } = await response.json();
    return response.status === 502 && typeof message === "string";
  }, output);
  await running.printed("ended by itself (exit code 7)");
  await running.printed("The edge function runs again.");
  await copy.edit(RESPONSES, CRASH, "");
  await until(() => /runs again[^]*Reloaded/.test(output()), output);
  await assertAnswer(ask(), NOT_FOUND);
  assert(!STACK_TRACE.test(output()), output());
});

Deno.test("start: reports the line of a row that PostgreSQL rejects, and skips what is no migration", async () => {
  await using copy = await copyProject();
  for (const name of [".DS_Store", "README.md", "undo.sql"]) {
    const file = new URL(`supabase/migrations/${name}`, copy.url);
    await Deno.writeTextFile(file, "no SQL");
  }
  const path = "supabase/seed.sql";
  const [before = ""] = (await copy.edit(path, SEEDED.project_id, "no UUID"))
    .split("no UUID");
  await using start = runStart(["--port=0"], copy.url);
  assertEquals(await start.ended(), 1);
  const place = `${path}, line ${before.split("\n").length}`;
  assertStringIncludes(
    start.output(),
    `PostgreSQL rejects ${place}: invalid input syntax for type uuid: "no UUID"`,
  );
  assert(!STACK_TRACE.test(start.output()), start.output());
});

const test = testWith("signals");
test("start: ends when `deno task` is killed outright", async () => {
  await using start = runStart(["--port=0"]);
  await start.printed("Starting");
  start.child.kill("SIGKILL");
  await start.ended();
});

// The last one, because it ends the process.
test("start: Ctrl-C ends it, whoever sends a body, and whatever an edit waits for", async () => {
  using watch = watchProcess();
  await copy.edit(RESPONSES, /$/, `${watch.source} for (;;);`);
  await watch.is("booting");
  await raw(base, async (connection) => {
    await write(
      connection,
      `POST ${FUNCTION_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`,
    );
    running.child.kill("SIGINT");
    assertEquals(await running.ended(), 0);
  });
  await watch.is("gone");
});
