/** `deno task start`, as a person runs it in a terminal. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import {
  FUNCTION_FOLDER_PATH,
  FUNCTION_URL_PATH,
  SEEDED,
} from "../../tools/project.ts";
import { startGateway, type Targets } from "../../tools/stack/gateway.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { screen } from "../../tools/stack/screen.ts";
import { explain } from "../../tools/stack/start_error.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { testNeeding } from "../support/left_out.ts";
import { OPENAPI } from "../support/pages.ts";
import { copyProject } from "../support/project_copy.ts";
import {
  assertResponse,
  check,
  exchange,
  withConnection,
  write,
} from "../support/requests.ts";
import {
  runLine,
  runStart,
  startCopy,
  waitUntil,
  waitUntilGone,
} from "../support/processes.ts";

// The service for all tests that leave it as it was.
let shared: Awaited<ReturnType<typeof startCopy>>;
Deno.test.beforeAll(async () => {
  shared = await startCopy();
});
Deno.test.afterAll(async () => await shared?.[Symbol.asyncDispose]());

/** Asks the shared service about a user of the seed's product. */
const checkShared = (user: string) =>
  check(SEEDED.project_id, user, new URL(FUNCTION_URL_PATH, shared.base));

Deno.test("start: it prints one screen, and every curl line on it works", async () => {
  const { screen, base } = shared;
  assert(screen.trim().split("\n").length <= 20, screen);
  assertStringIncludes(screen, ` in a browser: ${base}\n`);
  assertStringIncludes(screen, "\nPUBLISHABLE_KEY=sb_publishable_");

  await assertResponse(checkShared("Amelia#1937"), NOT_FOUND);
  const statuses = [];
  for (const [line] of screen.matchAll(/^curl .*/gm)) {
    const { stdout, stderr } = await runLine(line);
    statuses.push(stdout.split("\r\n")[0] || stderr);
  }
  assertEquals(statuses, ["HTTP/1.1 200 OK", "HTTP/1.1 201 Created"]);
  await assertResponse(checkShared("Amelia#1937"), ACTIVE);
});

Deno.test("start: on Windows, it says that its lines are for cmd", () => {
  const windows = screen(LOCAL_SERVICE, "windows");
  assertStringIncludes(windows, "(in PowerShell, type `cmd` first):\ncurl -i ");
});

Deno.test("start: explains a port that the system does not give", () => {
  const text = explain({ code: "EACCES", syscall: "listen" }, 54321);
  assertStringIncludes(text, "take port 54321");
  assertStringIncludes(text, "--port");
});

Deno.test("start: says what is wrong with an argument, the port or the seed, and skips what is no migration", async () => {
  await using project = await copyProject();
  const other = new URL("supabase/migrations/undo.sql", project.url);
  await Deno.writeTextFile(other, "not a migration");
  const path = "supabase/seed.sql";
  const seed = await project.edit(path, SEEDED.project_id, "no UUID");
  const line = seed.split("no UUID")[0]?.split("\n").length;
  const usage = "Usage: deno task start";
  const { port } = shared.base;
  const starts = [
    ["--help", 0, usage],
    ["--prot 54400", 1, usage],
    ["--port 0x10", 1, usage],
    ["--port 99999", 1, usage],
    [`--port ${port}`, 1, `Port ${port} is taken`],
    ["--port=0", 1, `PostgreSQL rejects ${path}, line ${line}: invalid`],
  ] as const;
  for (const [args, code, says] of starts) {
    await using start = runStart(args.split(" "), project.url);
    assertEquals(await start.ended(), code);
    const output = start.output();
    assertStringIncludes(output, says);
    assertEquals(output.includes("Starting"), says !== usage);
    assert(!/^ +at /m.test(output), output);
  }
});

Deno.test("gateway: requests wait while the service starts", async () => {
  const starting = Promise.withResolvers<Targets>();
  await using gateway = await startGateway(0, starting.promise);
  await using target = serveOnLoopback(() => new Response("started"));
  const response = fetch(gateway.url + FUNCTION_URL_PATH);
  const first = await Promise.race([response, sleep(200, "nothing yet")]);
  assertEquals(first, "nothing yet");
  starting.resolve({ dataApi: target, edgeFunction: target });
  assertEquals(await (await response).text(), "started");
});

Deno.test("gateway: passes on no other path", async () => {
  const others = [
    "GET /rest/v1/%2e%2e/%2E%2e/x",
    `GET ${FUNCTION_URL_PATH}/../../../x`,
    "GET http://[/",
    "GET /swagger-ui.js",
    "POST /",
  ];
  for (const line of others) {
    const head = `${line} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const response = await exchange(shared.base, head);
    assertStringIncludes(response, "HTTP/1.1 404 ");
    assertStringIncludes(response, '{"message":"Nothing here but');
  }
});

Deno.test("data API: 32,768 values at once → a 413 that says how many keys it takes", async () => {
  const url = new URL("/rest/v1/activation_keys", shared.base);
  const body = JSON.stringify(Array(8_192).fill([1, 2, 3, 4]));
  const response = await fetch(url, { method: "POST", body });
  assertEquals(response.status, 413);
  assertStringIncludes(await response.text(), "up to 5,000 at once");
});

Deno.test("page: the files that it loads are there, with their types and as edited", async () => {
  const { base, project } = shared;
  const get = async (path: string) => (await fetch(new URL(path, base))).text();
  await get("/openapi.yaml");
  await project.edit(OPENAPI, "title: ", "title: EDITED ");
  const page = await get("/");
  const files = page.matchAll(/(?:href=|src=|url: )"([^"]*)"/g).toArray();
  assertEquals(files.length, 4);
  for (const [, name = ""] of files) {
    const response = await fetch(new URL(name, base));
    const text = await response.text();
    assert(response.ok && text !== "", name);
    assert(name !== "/openapi.yaml" || text.includes("EDITED"), text);
    const type = name.replace(/.*[.]/, "").replace("js", "javascript");
    assertStringIncludes(response.headers.get("content-type") ?? "", type);
  }
});

const RESPONSES = `${FUNCTION_FOLDER_PATH}responses.ts`;

Deno.test("start: serves an edit, says what is wrong with a mistake, and serves the fix", async () => {
  const { project, start } = shared;
  const serves = (status: number, text: string) =>
    waitUntil(async () => {
      const response = await checkShared("nobody");
      const body = await response.text();
      return response.status === status && body.includes(text);
    }, start.output);

  const { status, body: { error } } = NOT_FOUND;
  await project.edit(RESPONSES, error, "EDITED");
  await serves(status, "EDITED");
  await project.edit(RESPONSES, "EDITED", error);
  await serves(status, error);
  const mistakes = {
    "const mistake = ;": "const mistake = ;",
    'throw new Error("thrown");': "Error: thrown",
    "setTimeout(() => Deno.exit(7), 500);": "exit code 7",
  };
  for (const [mistake, says] of Object.entries(mistakes)) {
    await project.edit(RESPONSES, /$/, mistake);
    await start.waitFor(says);
    await serves(503, "Look at the terminal of `deno task start`");
    await project.edit(RESPONSES, mistake, "");
    await serves(status, error);
  }
});

const test = testNeeding("POSIX", 120_000);
test("start: Ctrl-C ends it, even while a caller sends a body", async () => {
  await using own = await startCopy();
  await withConnection(own.base, async (connection) => {
    const head = `POST ${FUNCTION_URL_PATH} HTTP/1.1\r\nHost: x\r\n`;
    await write(connection, `${head}Content-Length: 100\r\n\r\n{`);
    own.start.child.kill("SIGINT");
    assertEquals(await own.start.ended(), 0);
  });
});

test("start: ends when `deno task` is killed, even while an edit hangs", async () => {
  await using own = await startCopy();
  const hangs = 'console.error("hangs:", Deno.pid); for (;;);';
  await own.project.edit(RESPONSES, /$/, hangs);
  await own.start.waitFor("hangs: ");
  const pid = Number(own.start.output().match(/hangs: (\d+)/)?.[1]);
  own.start.child.kill("SIGKILL");
  await own.start.ended();
  await waitUntilGone(pid);
});
