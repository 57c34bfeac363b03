/** What depends on real connections: to the Data API, and from callers. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { assertEquals, assertRejects } from "@std/assert";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/function_process.ts";
import * as CONTRACT from "../support/contract.ts";
import { assertResponse, checkAt, sendTo } from "../support/requests.ts";

const { ACTIVE, DATABASE_ERROR, NOT_FOUND } = CONTRACT;
const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

const KEY = `[{"project_id":"${PRODUCT}","curr_user":"Amelia"}]`;
const OK = "HTTP/1.1 200 OK\r\n";
const ok = (body: string) =>
  `${OK}Content-Length: ${body.length}\r\n\r\n${body}`;
const ROW = ok(KEY);
const GZIP = OK + "Content-Encoding: gzip\r\n\r\n" +
  gzipSync(KEY).toString("latin1");
const REDIRECT = ROW.replace("200 OK", "307 Elsewhere\r\nLocation: /");
/** One response too many on the connection. */
const STRAY = ROW.replace("Amelia", "Bessie");

/** What the Data API sends, query by query, before it closes the connection; and the response. */
const ROWS: [what: string, sends: string[], CONTRACT.Expected][] = [
  ["a dropped connection, then a row", ["", ROW], ACTIVE],
  ["a cut response, then a row", [ROW.slice(0, -1), ROW], ACTIVE],
  ["a row in gzip, without a length", [GZIP], ACTIVE],
  ["another caller's row, then none", [STRAY + ok("[]"), ok("[]")], NOT_FOUND],
  ["a status of 600", [ROW.replace("200", "600"), ROW], DATABASE_ERROR],
  ["a redirect to a row", [REDIRECT, ROW], DATABASE_ERROR],
];

let toSend: string[] = [];
const server = createServer((socket) =>
  socket.on("error", () => {}).on("data", async () => {
    const text = toSend.shift() ?? ROW;
    await sleep(200); // Time for a caller to hang up.
    socket.end(text, "latin1");
  })
);
const dataApi = await listenOnLoopback(server);
const { url, output, ...edgeFunction } = await startFunction(dataApi.url);
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());
Deno.test.afterAll(() => dataApi[Symbol.asyncDispose]());

for (const [what, sends, expected] of ROWS) {
  Deno.test(`connections: ${what} → ${expected.status}`, async () => {
    toSend = sends;
    await assertResponse(checkAt(url, PRODUCT, "Amelia"), expected);
  });
}

Deno.test("callers: those who hang up disturb nobody, and nothing is logged", async () => {
  const before = output();
  const body = JSON.stringify({ username: "Amelia", project_id: PRODUCT });
  const partOfBody = new TransformStream().readable; // Nothing comes, and it does not end.
  for (const sent of [body, partOfBody]) {
    const hangUp = { body: sent, signal: AbortSignal.timeout(100) };
    await assertRejects(() => sendTo(url, hangUp), Error, "due to timeout");
  }
  // This lookup ends after that of the caller who hung up.
  await assertResponse(checkAt(url, PRODUCT, "Amelia"), ACTIVE);
  assertEquals(output(), before);
});

const PEM = new URL("localhost.pem", import.meta.url);

/**
 * The connection that the function uses goes bad; new ones are sound. The Data API speaks HTTP/2, as
 * hosted, so eight lookups at once share a connection. A bad one answers 503 after `silentMs`.
 */
const BAD_CONNECTIONS = [
  {
    name: "a silent connection costs one round of lookups",
    silentMs: 6_000,
    idleMs: 0,
    statusesOfFirstRound: [500],
  },
  {
    name: "a connection that only gives 503 costs nothing",
    silentMs: 0,
    idleMs: 0,
    statusesOfFirstRound: [200],
  },
  {
    name: "a connection that goes silent while it is idle costs nothing",
    silentMs: 6_000,
    idleMs: 12_000,
    statusesOfFirstRound: [200],
  },
];

for (const row of BAD_CONNECTIONS) {
  Deno.test(`connections: ${row.name}`, async () => {
    let firstPort = 0; // Of the function. It identifies a connection.
    let isBad = false;
    const pem = await Deno.readTextFile(PEM);
    await using api = serveOnLoopback(async (_query, { remoteAddr }) => {
      firstPort ||= remoteAddr.port;
      if (!isBad || remoteAddr.port !== firstPort) return new Response(KEY);
      await sleep(row.silentMs);
      return new Response(null, { status: 503 });
    }, { cert: pem, key: pem });
    const env = { DENO_CERT: fileURLToPath(PEM) };
    const apiUrl = `https://localhost:${api.port}`;
    await using edgeFunction = await startFunction(apiUrl, { env });
    const ask = async () => {
      const response = await checkAt(edgeFunction.url, PRODUCT, "Amelia");
      await response.bytes();
      return response.status;
    };
    const askAtOnce = () => Promise.all(Array.from({ length: 8 }, ask));

    assertEquals([await ask(), ...await askAtOnce()], Array(9).fill(200));
    isBad = true;
    await sleep(row.idleMs);
    const first = new Set(await askAtOnce());
    assertEquals([...first], row.statusesOfFirstRound, "the first round");
    assertEquals(await askAtOnce(), Array(8).fill(200), "the second round");
  });
}
