/** What depends on real connections: to the Data API, and from callers. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { assertEquals, assertRejects } from "@std/assert";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/function_process.ts";
import * as CONTRACT from "../support/contract.ts";
import { askAt, assertResponse, sendTo } from "../support/requests.ts";

const { ACTIVE, DATABASE_ERROR, NOT_FOUND } = CONTRACT;
const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

const AMELIAS_ROW = `[{"project_id":"${PRODUCT}","curr_user":"Amelia"}]`;
const NO_ROW = "[]";
const OK = "HTTP/1.1 200 OK\r\n";

/** Returns the bytes of a whole response with this body. */
const ok = (body: string) => `${OK}Content-Length: ${body.length}\r\n\r\n${body}`;

const AMELIAS = ok(AMELIAS_ROW);
const BESSIES = ok(AMELIAS_ROW.replace("Amelia", "Bessie"));

/**
 * What the Data API sends for each query about Amelia, byte for byte, before it closes the
 * connection; and the response of the function.
 */
const ROWS: { comes: string; sends: string[]; response: CONTRACT.Expected }[] = [
  { comes: "a dropped connection, then Amelia's row", sends: ["", AMELIAS], response: ACTIVE },
  {
    comes: "a response cut by a byte, then Amelia's row",
    sends: [AMELIAS.slice(0, -1), AMELIAS],
    response: ACTIVE,
  },
  {
    comes: "Amelia's row in gzip, without a length",
    sends: [`${OK}Content-Encoding: gzip\r\n\r\n${gzipSync(AMELIAS_ROW).toString("latin1")}`],
    response: ACTIVE,
  },
  {
    // The first query gets Bessie's row, which is rejected. The second one gets Amelia's empty list.
    comes: "one response too many, Bessie's, before Amelia's empty list",
    sends: [BESSIES + ok(NO_ROW), ok(NO_ROW)],
    response: NOT_FOUND,
  },
  {
    comes: "a status of 600, which HTTP does not have",
    sends: [AMELIAS.replace("200", "600"), AMELIAS],
    response: DATABASE_ERROR,
  },
  {
    comes: "a redirect to Amelia's row",
    sends: [AMELIAS.replace("200 OK", "307 Elsewhere\r\nLocation: /"), AMELIAS],
    response: DATABASE_ERROR,
  },
];

let toSend: string[] = [];
const server = createServer((socket) =>
  socket.on("error", () => {}).on("data", async () => {
    const text = toSend.shift() ?? AMELIAS;
    await sleep(200); // Time for a caller to hang up.
    socket.end(text, "latin1");
  })
);
const dataApi = await listenOnLoopback(server);
const { url, output, ...edgeFunction } = await startFunction(dataApi.url);
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());
Deno.test.afterAll(() => dataApi[Symbol.asyncDispose]());

for (const { comes, sends, response } of ROWS) {
  Deno.test(`connections: ${comes} → ${response.status}`, async () => {
    toSend = sends;
    await assertResponse(askAt(url, PRODUCT, "Amelia"), response);
  });
}

Deno.test("connections: callers who hang up disturb nobody, and nothing is logged", async () => {
  const before = output();
  const body = JSON.stringify({ username: "Amelia", project_id: PRODUCT });
  const partOfBody = new TransformStream().readable; // Nothing comes, and it does not end.
  for (const sent of [body, partOfBody]) {
    const hangUp = { body: sent, signal: AbortSignal.timeout(100) };
    await assertRejects(() => sendTo(url, hangUp), Error, "due to timeout");
  }
  // This lookup ends after that of the caller who hung up.
  await assertResponse(askAt(url, PRODUCT, "Amelia"), ACTIVE);
  assertEquals(output(), before);
});

const PEM = new URL("localhost.pem", import.meta.url);

/**
 * The connection that the function uses goes bad, and new ones are sound. The Data API speaks HTTP/2,
 * as hosted, so eight lookups at once share a connection. A bad one answers 503 after `silentMs`.
 */
const BAD_CONNECTIONS = [
  { connection: "silent", silentMs: 6_000, idleMs: 0, firstRound: 500 },
  { connection: "only giving 503", silentMs: 0, idleMs: 0, firstRound: 200 },
  { connection: "silent since it was idle", silentMs: 6_000, idleMs: 12_000, firstRound: 200 },
];

for (const { connection, silentMs, idleMs, firstRound } of BAD_CONNECTIONS) {
  Deno.test(`connections: over one that is ${connection}, eight lookups get ${firstRound}, and the next ones 200`, async () => {
    let firstPort = 0; // Of the function. It identifies a connection.
    let isBad = false;
    const pem = await Deno.readTextFile(PEM);
    await using api = serveOnLoopback(async (_query, { remoteAddr }) => {
      firstPort ||= remoteAddr.port;
      if (!isBad || remoteAddr.port !== firstPort) {
        return new Response(AMELIAS_ROW);
      }
      await sleep(silentMs);
      return new Response(null, { status: 503 });
    }, { cert: pem, key: pem });
    const env = { DENO_CERT: fileURLToPath(PEM) };
    const apiUrl = `https://localhost:${api.port}`;
    await using edgeFunction = await startFunction(apiUrl, { env });
    const ask = async () => {
      const response = await askAt(edgeFunction.url, PRODUCT, "Amelia");
      await response.bytes();
      return response.status;
    };
    const askAtOnce = () => Promise.all(Array.from({ length: 8 }, ask));

    assertEquals([await ask(), ...await askAtOnce()], Array(9).fill(200));
    isBad = true;
    await sleep(idleMs);
    const first = new Set(await askAtOnce());
    assertEquals([...first], [firstRound], "the first round");
    assertEquals(await askAtOnce(), Array(8).fill(200), "the second round");
  });
}
