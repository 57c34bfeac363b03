/** `first_use.ts`, which an operator's back end copies, and which records the first use of a key. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createServer } from "node:net";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { run } from "../../tools/command.ts";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { LOCAL_SERVICE, PROJECT } from "../../tools/project.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const OTHER_KEY = "c47483a5-3d7d-49ae-a026-b9fbe3b175b1";
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";

const FILE = new URL("../../examples/back-end/first_use.ts", import.meta.url);

/**
 * Loads the file for a Data API, whose address it reads when it is loaded. Returns a function that
 * calls it, and tells what it returns, or the message that it throws.
 */
async function load(apiUrl: string) {
  process.env.SUPABASE_URL = apiUrl;
  process.env.BACK_END_SECRET_KEY = LOCAL_SERVICE.SECRET_KEY;
  const { recordFirstUse }: typeof import("../../examples/back-end/first_use.ts") = await import(
    `${FILE}?${apiUrl}`
  );
  return (values: unknown) =>
    recordFirstUse(values).catch((error) => error instanceof z.ZodError ? "ZodError" : `${error}`);
}

/** If such a name were a part of an address or a filter, it would find used keys, too. */
const HARMFUL = "x,curr_user.not.is.null";
const ODD = [" a", "null", "true", "{a}", `a,b.c:d(e)"f"\\g`, "100%_*", "is.null", "O'Dea", "小雪"];

Deno.test("first use: on the local stack", async (test) => {
  const recordFirstUse = await load(service.settings.API_URL);
  for (const username of [HARMFUL, ...ODD]) {
    await test.step(`${username} gets an unused key, gets it again, and gets no other key`, async () => {
      await using product = await service.issueKeys([null, "Bessie"]);
      const { keys: [unused, bessies], project_id } = product;
      const calls = [
        { when: "no such key", key: KEY, returns: false },
        { when: "other product", key: unused!.id, project_id: PROJECT_ID, returns: false },
        { when: "at first", key: unused!.id, returns: true },
        { when: "again", key: unused!.id, returns: true },
        { when: "another user", key: unused!.id, username: "Bessie", returns: false },
        { when: "Bessie's key", key: bessies!.id, returns: false },
      ];
      for (const { when, returns, ...values } of calls) {
        assertEquals(await recordFirstUse({ project_id, username, ...values }), returns, when);
      }
      // The service finds both users afterwards, so Bessie's key is still hers.
      await assertResponse(service.ask(project_id, username), ACTIVE);
      await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
      await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
    });
  }

  await test.step("of twenty users who come at once for one key, one gets it", async () => {
    await using product = await service.issueKeys([null]);
    const { keys: [key], project_id } = product;
    const calls = Array.from(
      { length: 20 },
      (_, nth) => recordFirstUse({ key: key!.id, project_id, username: `user ${nth}` }),
    );
    assertEquals((await Promise.all(calls)).toSorted(), [...Array(19).fill(false), true]);
  });
});

/** What an add-on might send in the place of a value. */
const WRONG = {
  key: [undefined, null, "", [KEY], `${KEY}#`, `${KEY}\n`, KEY.slice(1)],
  project_id: [undefined, null, "", [PROJECT_ID], `${PROJECT_ID}#`, PROJECT_ID.slice(1)],
  username: [undefined, null, "", ["Amelia"], "a".repeat(257), "a\0", "a\ud83d"],
};
/** In capitals, as a user may type a key. The Data API writes it in lower case. */
const RIGHT = { key: KEY.toUpperCase(), project_id: PROJECT_ID.toUpperCase(), username: "Amelia" };

for (const [field, values] of Object.entries(WRONG)) {
  Deno.test(`first use: a ${field} that is missing or wrong → a ZodError, and no request`, async () => {
    let requests = 0;
    await using dataApi = serveOnLoopback(() => {
      requests++;
      return Response.json([]);
    });
    const recordFirstUse = await load(dataApi.url);
    for (const value of values) {
      const result = await recordFirstUse({ ...RIGHT, [field]: value });
      assertEquals(result, "ZodError", JSON.stringify(value));
    }
    assertEquals(requests, 0);
    await recordFirstUse({ ...RIGHT, username: "🛩".repeat(256) });
    assertEquals(requests, 2, "after a call with right values");
  });
}

/** The row of Amelia and the key that is asked for, as JSON, with these changes. */
const row = (changes: Record<string, unknown> = {}) =>
  JSON.stringify({ id: KEY, project_id: PROJECT_ID, curr_user: "Amelia", ...changes });
const list = (changes = {}) => `[${row(changes)}]`;

const NO_JSON = "Error: The Data API did not send a whole response in JSON: SyntaxError";
const NOT_THE_ROW = "Error: The Data API sent something other than the row of this key";
const statusError = (status: number) => `Error: The Data API responded with ${status}`;

/**
 * What the Data API sends for Amelia, with status 200 by default, either to the update, or to the
 * select that comes after an update without a row; and the result, an error if it is not known.
 */
const RESPONSES: { with: string; status?: number; body: string; result: boolean | string }[] = [
  { with: "Amelia's row", body: list(), result: true },
  { with: "Bessie's row", body: list({ curr_user: "Bessie" }), result: false },
  { with: "a similar name's row", body: list({ curr_user: " Amelia" }), result: false },
  { with: "no row", body: "[]", result: false },
  { with: "a row whose name is null", body: list({ curr_user: null }), result: NOT_THE_ROW },
  { with: "a row without a name", body: list({ curr_user: undefined }), result: NOT_THE_ROW },
  { with: "another key's row", body: list({ id: OTHER_KEY }), result: NOT_THE_ROW },
  { with: "another product's row", body: list({ project_id: OTHER_PRODUCT }), result: NOT_THE_ROW },
  { with: "two rows", body: `[${row()},${row()}]`, result: NOT_THE_ROW },
  { with: "a row in no list", body: row(), result: NOT_THE_ROW },
  { with: "an empty object", body: "{}", result: NOT_THE_ROW },
  { with: "a page", body: "<h1>Welcome</h1>", result: NO_JSON },
  { with: "nothing", body: "", result: NO_JSON },
  // With `Location`, which leads to an empty list.
  { with: "a redirect", status: 307, body: "", result: statusError(307) },
  { with: "a part of a list", status: 206, body: "[]", result: statusError(206) },
  { with: "a rejected secret key", status: 401, body: "{}", result: statusError(401) },
  { with: "a 404 and a list", status: 404, body: "[]", result: statusError(404) },
  { with: "a 503", status: 503, body: '{"code":"PGRST002"}', result: statusError(503) },
];

Deno.test("first use: when the Data API responds", async (test) => {
  const noRow = { status: 200, body: "[]" };
  let responses = [noRow];
  let paths: string[] = [];
  await using dataApi = serveOnLoopback((request) => {
    paths.push(new URL(request.url).pathname);
    const { status, body } = responses.shift() ?? noRow;
    const headers = { "Content-Type": "application/json", "Location": "/elsewhere" };
    return new Response(body, { status, headers });
  });
  const recordFirstUse = await load(dataApi.url);
  for (const { with: what, status = 200, body, result } of RESPONSES) {
    for (const to of ["update", "select"]) {
      await test.step(`to the ${to} with ${what} → ${typeof result === "string" ? "an error" : result}`, async () => {
        const response = { status, body };
        [responses, paths] = [to === "update" ? [response] : [noRow, response], []];
        assertEquals(await recordFirstUse(RIGHT), result);
        assert(!paths.includes("/elsewhere"), "a redirect is followed");
      });
    }
  }
});

/** Ways in which the body of a 200 stalls, and how many bytes come before, one each half second. */
const STALLS: Record<string, number> = {
  "behind the headers": 0,
  "behind a byte": 1,
  "byte by byte": Infinity,
};

Deno.test("first use: a body that stalls in one of three ways → each call throws within 11 s", async () => {
  let startedAt = NaN;
  await using dataApi = serveOnLoopback(async (request) => {
    const { curr_user } = await request.json();
    let left = STALLS[curr_user]!;
    const body = new ReadableStream({
      async pull(controller) {
        if (left-- === 0) await sleep(12_000);
        if (performance.now() - startedAt > 12_000) return controller.close();
        controller.enqueue(new TextEncoder().encode("["));
        await sleep(500);
      },
    });
    return new Response(body);
  });
  const recordFirstUse = await load(dataApi.url);
  startedAt = performance.now();
  const calls = Object.keys(STALLS).map((username) => recordFirstUse({ ...RIGHT, username }));
  const error = "Error: The Data API did not send a whole response in JSON: TimeoutError";
  assertEquals(await Promise.all(calls), [error, error, error]);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < 11_000, `${tookMs} ms`);
});

// A body that is not read keeps its connection, so that a long outage would use up all sockets. Now
// and then, Deno makes a second connection before the first one is free again.
Deno.test("first use: twenty calls that get a 503 with a long body share few connections", async () => {
  const ports = new Set<number>(); // Of the file, one for each connection.
  await using dataApi = serveOnLoopback(async (request, { remoteAddr }) => {
    ports.add(remoteAddr.port);
    await request.bytes();
    return new Response("x".repeat(100_000), { status: 503 });
  });
  const recordFirstUse = await load(dataApi.url);
  for (let nth = 0; nth < 20; nth++) assertEquals(await recordFirstUse(RIGHT), statusError(503));
  assert(ports.size <= 4, `${ports.size} connections`);
});

// Else, supabase-js would quote it in the error of each request.
Deno.test("first use: a secret key with a line break in it → the file is not loaded", async () => {
  process.env.BACK_END_SECRET_KEY = "sb_secret_1\n2";
  const load = () => import(`${FILE}?line-break`);
  const { message } = await assertRejects(load, Error, "Set BACK_END_SECRET_KEY, in one line");
  assert(!message.includes("sb_secret"), message);
});

/** A program that logs the error, and everything that is hidden in it. */
const PROGRAM = `const { recordFirstUse } = await import("${FILE}");
  const error = await recordFirstUse(${JSON.stringify(RIGHT)}).catch((error) => error);
  console.error(error, Deno.inspect(error, { depth: 99, showHidden: true }));
  Deno.exit();`;

const OK = "HTTP/1.1 200 OK\r\n";
const CUT = `${OK}Content-Length: 999\r\n\r\n${list()}`;
/** What a Data API sends before it ends the connection. Each body has the key and the name in it. */
const FAILURES = [
  { when: "a closed port", response: null, says: "JSON: TypeError" },
  { when: "a cut response", response: CUT, says: "JSON: TypeError" },
  { when: "a 503", response: `HTTP/1.1 503 Away\r\n\r\n${row()}`, says: "with 503" },
  { when: "a row in no list", response: `${OK}\r\n${row()}`, says: NOT_THE_ROW },
  { when: "no JSON", response: `${OK}\r\n<p>${row()}`, says: NO_JSON },
];

for (const { when, response, says } of FAILURES) {
  Deno.test(`first use: after ${when}, no key, no name and no address is logged`, async () => {
    const server = createServer((socket) =>
      socket.on("error", () => {}).on("data", () => socket.end(response ?? ""))
    );
    await using dataApi = await listenOnLoopback(server);
    if (response === null) server.close();
    const env = { SUPABASE_URL: dataApi.url, BACK_END_SECRET_KEY: LOCAL_SERVICE.SECRET_KEY };
    const { stderr } = await run(Deno.execPath(), ["eval", PROGRAM], { cwd: PROJECT, env });
    assertStringIncludes(stderr, says);
    const { host } = new URL(dataApi.url);
    for (const secret of [KEY, KEY.toUpperCase(), "Amelia", host, LOCAL_SERVICE.SECRET_KEY]) {
      assert(!stderr.includes(secret), `${secret} in ${stderr}`);
    }
  });
}
