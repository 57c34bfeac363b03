/** `deno task start`, as run from a terminal. */
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
import { freePort } from "../../tools/loopback.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { explain, screen } from "../../tools/stack/screen.ts";
import { ACTIVE, METHOD_NOT_ALLOWED, NOT_FOUND } from "../support/contract.ts";
import { testWith } from "../support/left_out.ts";
import { copyProject } from "../support/project_copy.ts";
import { assertResponse, check } from "../support/requests.ts";
import {
  READY,
  runLine,
  runStart,
  STACK_TRACE,
  until,
  watchProcess,
} from "../support/start_process.ts";
import { assertIs, exchange, raw, write } from "../support/wire.ts";

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
  assertMatch(printed, /^PUBLISHABLE_KEY=sb_publish.+\nSECRET_KEY=sb_secret/m);

  await assertResponse(check(SEEDED.project_id, "Amelia#1937", url), NOT_FOUND);
  const statuses = [];
  for (const line of linesOf("curl", printed)) {
    const { stdout, stderr } = await runLine(line);
    statuses.push(stdout.split("\r\n")[0] || stderr);
  }
  assertEquals(statuses, ["HTTP/1.1 200 OK", "HTTP/1.1 201 Created"]);
  await assertResponse(check(SEEDED.project_id, "Amelia#1937", url), ACTIVE);
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

/** What comes back first for a request without a body. */
const respond = (line: string, headers = "") =>
  exchange(base, `${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);

Deno.test("start: the gateway passes on any method, and nothing to other paths", async () => {
  const others = [
    "GET /rest/v1/../../x",
    "GET /rest/v1/%2e%2e/%2E%2e/x",
    `GET ${FUNCTION_PATH}/../../../x`,
    "GET http://[/",
    "GET /swagger-ui.js",
    "POST /",
  ];
  for (const line of others) {
    const response = await respond(line);
    assertMatch(response, /^HTTP\/1.1 404 [^]*{"message":"/, line);
  }
  assertIs(await respond(`TRACE ${FUNCTION_PATH}`), METHOD_NOT_ALLOWED);
});

Deno.test("page: a browser's secret key is taken from the page alone", async () => {
  const key = `apikey: ${LOCAL_SERVICE.SECRET_KEY}\r\n`;
  for (const [site, status] of [["same-site", 401], ["same-origin", 200]]) {
    const response = await respond(
      "GET /rest/v1/activation_keys",
      `${key}User-Agent: Mozilla/5.0\r\nSec-Fetch-Site: ${site}\r\n`,
    );
    assertStringIncludes(response, `HTTP/1.1 ${status} `);
  }
});

Deno.test("page: its files are there, with their types, and as edited", async () => {
  const path = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
  await copy.edit(path, "title: ", "title: EDITED ");
  const page = await (await fetch(base)).text();
  const names = page.matchAll(/(?:href=|src=|url: )"([^"]*)"/g);
  const types: Record<string, string | null> = {};
  for (const name of ["/", ...names.map(([, name = ""]) => name)]) {
    const response = await fetch(new URL(name, base));
    const text = await response.text();
    assert(response.ok && text !== "", name);
    assert(name !== "/openapi.yaml" || text.includes("EDITED"), text);
    types[name] = response.headers.get("content-type");
  }
  assertEquals(types, {
    "/": "text/html; charset=utf-8",
    "/favicon-32x32.png": "image/png",
    "/swagger-ui.css": "text/css; charset=utf-8",
    "/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "/swagger-ui-standalone-preset.js": "text/javascript; charset=utf-8",
    "/openapi.yaml": "application/yaml",
    "/operator.yaml": "application/yaml",
  });
});

const RESPONSES = `${FUNCTION_FOLDER_PATH}responses.ts`;

/** Waits until the function's address responds so. */
const serves = (status: number, text: string) =>
  until(async () => {
    const response = await check(SEEDED.project_id, "nobody", url);
    const body = await response.text();
    return response.status === status && body.includes(text);
  }, running.output);

Deno.test("start: serves an edit, says what is wrong with a mistake, and serves the fix", async () => {
  const { status, body: { error } } = NOT_FOUND;
  await copy.edit(RESPONSES, error, "EDITED");
  await serves(status, "EDITED");
  await copy.edit(RESPONSES, "EDITED", error);
  await serves(status, error);
  for (
    const [mistake, says] of [
      ["const mistake = ;", "responses.ts:"],
      ['throw new Error("thrown");', "Error: thrown"],
      ["setTimeout(() => Deno.exit(7), 500);", "exit code 7"],
    ] as const
  ) {
    await copy.edit(RESPONSES, /$/, mistake);
    await running.printed(says);
    await serves(503, "look at the screen of `deno task start`");
    await copy.edit(RESPONSES, mistake, "");
    await serves(status, error);
  }
  assertStringIncludes(running.output(), "const mistake = ;");
  assertStringIncludes(running.output(), "A request got no response.");
});

// The last ones, because they end the process and leave mistakes in the copy.
const test = testWith("signals", 120_000);
test("start: Ctrl-C ends it, whoever sends a body", async () => {
  await raw(base, async (connection) => {
    const head = `POST ${FUNCTION_PATH} HTTP/1.1\r\nHost: x\r\n`;
    await write(connection, `${head}Content-Length: 100\r\n\r\n{`);
    running.child.kill("SIGINT");
    assertEquals(await running.ended(), 0);
  });
});

test("start: ends when `deno task` is killed outright, while an edit hangs", async () => {
  await using start = runStart(["--port=0"], copy.url);
  await start.printed(READY);
  using watched = watchProcess();
  await copy.edit(RESPONSES, /$/, `${watched.source} for (;;);`);
  await watched.booting;
  start.child.kill("SIGKILL");
  await start.ended();
  await watched.gone();
});

Deno.test("start: reports the line of a row that PostgreSQL rejects, and skips what is no migration", async () => {
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
