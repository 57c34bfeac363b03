/** What depends on real connections: to the Data API, and from callers. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { assertEquals, assertRejects } from "@std/assert";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/function_process.ts";
import * as CONTRACT from "../support/contract.ts";
import { askAt, assertResponse, sendTo } from "../support/requests.ts";

const { ACTIVE, DATABASE_ERROR, INVALID, NOT_FOUND } = CONTRACT;
const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

/** The Data API's lists of rows, as JSON. */
const AMELIAS_ROW = `[{"project_id":"${PRODUCT}","curr_user":"Amelia"}]`;
const BESSIES_ROW = `[{"project_id":"${PRODUCT}","curr_user":"Bessie"}]`;

const OK = "HTTP/1.1 200 OK\r\n";
/** Returns a whole response with such a list, as it is sent. */
const ok = (list: string) => `${OK}Content-Length: ${list.length}\r\n\r\n${list}`;
const [HERS, BESSIES, EMPTY] = [ok(AMELIAS_ROW), ok(BESSIES_ROW), ok("[]")];
const CUT = HERS.slice(0, -1);
const IN_GZIP = `${OK}Content-Encoding: gzip\r\n\r\n${gzipSync(AMELIAS_ROW).toString("latin1")}`;
const REDIRECT = HERS.replace("200 OK", "307 Elsewhere\r\nLocation: /");
// With `close`, because the next key is tried at once, over a connection that would end meanwhile.
const REJECTED = ok('{"message":"Invalid API key"}')
  .replace("200 OK", "401 Unauthorized\r\nConnection: close");

let toSend: string[] = [];
let keys = "";
const server = createServer((socket) =>
  socket.on("error", () => {}).on("data", async (query) => {
    keys += `${query}`.match(/^apikey: (.)/im)?.[1];
    const text = toSend.length > 1 ? toSend.shift()! : toSend[0]!;
    await sleep(200); // Longer than the callers wait who hang up, which is 100 ms.
    socket.end(text, "latin1");
  })
);
const dataApi = await listenOnLoopback(server);
const env = { SUPABASE_SECRET_KEYS: '{"b":"B","default":"A"}' };
const { url, output, ...edgeFunction } = await startFunction(dataApi.url, { env });
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());
Deno.test.afterAll(() => dataApi[Symbol.asyncDispose]());

type Then = { keys: string; response: CONTRACT.Expected; logs?: string };
/**
 * Tests a lookup of Amelia. The Data API sends an answer for each query, byte for byte, and closes
 * the connection. The last answer repeats. Then come the secret keys of the queries, the function's
 * response, and what the function logs. Its secret keys are `{"b":"B","default":"A"}`.
 */
function test(when: string, answers: string[], { keys: expectedKeys, response, logs }: Then) {
  Deno.test(`real connections: ${when} → ${response.status}`, async () => {
    toSend = [...answers];
    keys = "";
    const before = output().length;
    await assertResponse(askAt(url, PRODUCT, "Amelia"), response);
    assertEquals(keys, expectedKeys, "secret keys");
    const line = logs ? `{"event":"lookup_failed",${logs},"duration_ms":0}\n` : "";
    assertEquals(output().slice(before).replace(/(?<=_ms":)\d+/, "0"), line);
  });
}

test("a drop, then her row", ["", HERS], { keys: "AA", response: ACTIVE });
test("a row cut by a byte, then her row", [CUT, HERS], { keys: "AA", response: ACTIVE });
// A hosted project compresses what it sends, because Deno allows that.
test("her row in gzip, without a length", [IN_GZIP], { keys: "A", response: ACTIVE });
// One query gets two responses. The first one, another caller's, has Bessie's row, and is rejected.
// The second attempt gets the empty list, which is Amelia's own.
test("Bessie's row, and then []", [BESSIES + EMPTY, EMPTY], { keys: "AA", response: NOT_FOUND });
// This failure is final, so the row that would come next must not be asked for.
test("a redirect, then her row", [REDIRECT, HERS], {
  keys: "A",
  response: DATABASE_ERROR,
  logs: '"code":"http_307","status":307',
});
test("a 401 for each secret key", [REJECTED], {
  keys: "AB",
  response: DATABASE_ERROR,
  logs: '"code":"http_401","status":401',
});

Deno.test("real connections: callers who hang up disturb nobody, and neither they nor a 400 are logged", async () => {
  toSend = [HERS];
  const before = output();
  await assertResponse(askAt(url, PRODUCT, "Amelia\0"), INVALID);
  const body = JSON.stringify({ username: "Amelia", project_id: PRODUCT });
  const unfinishedBody = new TransformStream().readable; // Nothing of it comes.
  for (const sent of [body, unfinishedBody]) {
    const hangUp = { body: sent, signal: AbortSignal.timeout(100) };
    await assertRejects(() => sendTo(url, hangUp), Error, "due to timeout");
  }
  // This lookup ends after those of the callers who hung up, so what these log is printed by then.
  await assertResponse(askAt(url, PRODUCT, "Amelia"), ACTIVE);
  assertEquals(output(), before);
});

Deno.test("real connections: a kept connection begins to give only 503s → 200, over a new connection", async () => {
  let isBad = false;
  let badPort = 0; // The function's port of the first connection.
  await using dataApi = serveOnLoopback((_query, { remoteAddr }) => {
    badPort ||= remoteAddr.port;
    const status = isBad && remoteAddr.port === badPort ? 503 : 200;
    return new Response(AMELIAS_ROW, { status });
  });
  await using edgeFunction = await startFunction(dataApi.url);
  await assertResponse(askAt(edgeFunction.url, PRODUCT, "Amelia"), ACTIVE);
  isBad = true;
  await sleep(300); // A younger pool of connections would not be replaced.
  await assertResponse(askAt(edgeFunction.url, PRODUCT, "Amelia"), ACTIVE);
});
