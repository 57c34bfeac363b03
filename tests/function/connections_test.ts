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
const ok = (body: string) =>
  `${OK}Content-Length: ${body.length}\r\n\r\n${body}`;

const AMELIAS = ok(AMELIAS_ROW);
const BESSIES = ok(AMELIAS_ROW.replace("Amelia", "Bessie"));

/**
 * What the Data API sends for each query about Amelia, byte for byte, before it closes the
 * connection; and the response of the function.
 */
const ROWS: { when: string; sends: string[]; response: CONTRACT.Expected }[] = [
  {
    when: "the connection is dropped, and then Amelia's row comes",
    sends: ["", AMELIAS],
    response: ACTIVE,
  },
  {
    when: "a response is cut by a byte, and then Amelia's row comes",
    sends: [AMELIAS.slice(0, -1), AMELIAS],
    response: ACTIVE,
  },
  {
    when: "Amelia's row comes in gzip, without a length",
    sends: [
      OK + "Content-Encoding: gzip\r\n\r\n" +
      gzipSync(AMELIAS_ROW).toString("latin1"),
    ],
    response: ACTIVE,
  },
  {
    // The first response is another caller's, who is gone: it is rejected. The next query gets what
    // Amelia's query should have got.
    when:
      "the connection carries a response of Bessie's too many, before Amelia's empty list",
    sends: [BESSIES + ok(NO_ROW), ok(NO_ROW)],
    response: NOT_FOUND,
  },
  {
    when: "the status is 600, which is no status of HTTP",
    sends: [AMELIAS.replace("200", "600"), AMELIAS],
    response: DATABASE_ERROR,
  },
  {
    when: "a redirect leads to Amelia's row",
    sends: [
      AMELIAS.replace("200 OK", "307 Elsewhere\r\nLocation: /"),
      AMELIAS,
    ],
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

for (const { when, sends, response } of ROWS) {
  Deno.test(`connections: ${response.status}, when ${when}`, async () => {
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
      if (!isBad || remoteAddr.port !== firstPort) {
        return new Response(AMELIAS_ROW);
      }
      await sleep(row.silentMs);
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
    await sleep(row.idleMs);
    const first = new Set(await askAtOnce());
    assertEquals([...first], row.statusesOfFirstRound, "the first round");
    assertEquals(await askAtOnce(), Array(8).fill(200), "the second round");
  });
}
