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
import { connect, createServer as createRelay, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE, DATABASE_ERROR, LIMITS } from "../support/contract.ts";
import { linesOf, productOf } from "../support/data_api_stub.ts";
import { assertResponse, check } from "../support/requests.ts";

/** How many ask at once. */
const CALLERS = 8;

/** How long a response on a sound connection may take, in milliseconds. */
const PROMPT_MS = 1_000;

// A certificate of its own, for `localhost` and until 2126. It is nobody's secret. Made by
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=localhost
//   -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:false
const key = pem(
  "PRIVATE KEY",
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaWpdEnwxKn5rMh4l
LAHfuFvaLIFeYZNgGm0WV0F9HtqhRANCAASIuq9IvfKMk2esq+18sRK6Mhv2IHZn
b8DA9nEnVzbpHafxB+pMLXsP7D0rHCfVKLkqXzITfjjPs0reF+UyvtoN`,
);
const cert = pem(
  "CERTIFICATE",
  `MIIBkjCCATigAwIBAgIUSu2aLiU2E4uN1kPux8k//DFivKkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjAyMzU0MloYDzIxMjYxMDI5
MDIzNTQyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASIuq9IvfKMk2esq+18sRK6Mhv2IHZnb8DA9nEnVzbpHafxB+pMLXsP
7D0rHCfVKLkqXzITfjjPs0reF+UyvtoNo2YwZDAdBgNVHQ4EFgQUw9QmtrkrsuCG
qrzcoJCzsetSuHkwHwYDVR0jBBgwFoAUw9QmtrkrsuCGqrzcoJCzsetSuHkwFAYD
VR0RBA0wC4IJbG9jYWxob3N0MAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSAAw
RQIgVFyF9Oakgq6CNvrshH9wsFjFC/MEhDt/ZnfMC0yybXECIQD0M8Aqo2mAbL+F
+kLMTAK0Gl9P6V+fSnrc+S+tW8hajw==`,
);

function pem(label: string, base64: string): string {
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`;
}

/** A response of Node's. Over HTTP/2, it has a stream. */
type Response = ServerResponse & { stream?: ServerHttp2Stream };

/** What the Data API does with a request for a row. */
type Reply = (response: Response, row: string) => void;

const respond: Reply = (response, row) => void response.end(row);
const unavailable: Reply = (response) => void response.writeHead(503).end();

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
  cut(constants.NGHTTP2_INTERNAL_ERROR),
  cut(),
];

/** A connection through the network, by its two ends. */
interface Connection {
  ends: [Socket, Socket];
  fault?: "silent" | "reset";
}

/** Passes connections on to a port, and lets them go bad. */
async function startNetwork(port: number) {
  const connections: Connection[] = [];
  let silentUntil = 0;
  const relay = createRelay((client) => {
    const server = connect(port, "127.0.0.1");
    const connection: Connection = { ends: [client, server] };
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
  const listening = await listenOnLoopback(relay);
  return {
    port: listening.port,
    /** Lets those go bad that are open, or that are made within so many milliseconds. */
    spoil(fault: "silent" | "reset", ms = 0) {
      silentUntil = performance.now() + ms;
      for (const connection of connections) connection.fault = fault;
    },
    async [Symbol.asyncDispose]() {
      for (const { ends } of connections) ends.forEach((end) => end.destroy());
      await listening[Symbol.asyncDispose]();
    },
  };
}

/** Starts a function whose Data API is reached over one protocol. */
async function startService(protocol: "HTTP/2" | "HTTP/1.1") {
  await using unfinished = new AsyncDisposableStack();
  let reply = respond;
  const connections = new Set<object>();
  const failing = new WeakSet<object>();
  const server = protocol === "HTTP/2"
    ? createSecureServer({ cert, key })
    : createServer({ cert, key });
  server.on("request", ({ url = "" }: IncomingMessage, response: Response) => {
    const connection = response.stream?.session ?? response.socket ?? response;
    connections.add(connection);
    const row = `[{"project_id":"${productOf(url)}"}]`;
    (failing.has(connection) ? unavailable : reply)(response, row);
  });
  const { port } = unfinished.use(await listenOnLoopback(server));
  const network = unfinished.use(await startNetwork(port));
  const folder = unfinished.use(await makeTempFolder());
  const root = new URL("root.pem", folder.url);
  await Deno.writeTextFile(root, cert);
  const API_URL = `https://localhost:${network.port}`;
  const edgeFunction = unfinished.use(
    await startFunction({
      env: {
        ...platformEnv({ ...LOCAL_SERVICE, API_URL }),
        DENO_CERT: fileURLToPath(root),
      },
    }),
  );
  const running = unfinished.move();
  const ask = async () => {
    const startedAt = performance.now();
    const response = check(crypto.randomUUID(), "a", edgeFunction.url);
    await assertResponse(response, ACTIVE, protocol);
    return performance.now() - startedAt;
  };
  return {
    protocol,
    network,
    edgeFunction,
    /** Asks for many at once. Gives the longest time that it took, in milliseconds. */
    askForMany: async () =>
      Math.max(...await Promise.all(Array.from({ length: CALLERS }, ask))),
    /** Lets the first attempt of each lookup meet this, from now on. */
    replyOnce(once: Reply) {
      const met = new Set<string>();
      reply = (response, row) => {
        (met.has(row) ? respond : once)(response, row);
        met.add(row);
      };
    },
    /** Lets all connections so far respond with 503, for good. */
    fail: () => connections.forEach((connection) => failing.add(connection)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Service = Awaited<ReturnType<typeof startService>>;

const services = await Promise.all(
  (["HTTP/2", "HTTP/1.1"] as const).map(startService),
);
Deno.test.afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
});

// What was sound just before is trusted for 1.3 s.
const FRESH_MS = LIMITS.trustMs + PROMPT_MS;

/** What is done to the connections, how, and how long a response may take then, in milliseconds. */
const FAULTS: [what: string, spoil: (service: Service) => void, ms: number][] =
  [
    ["die in silence", ({ network }) => network.spoil("silent"), FRESH_MS],
    [
      "die in silence, for 2 s",
      ({ network }) => network.spoil("silent", 2_000),
      2_000 + FRESH_MS,
    ],
    [
      "die in silence, for 4 s",
      ({ network }) => network.spoil("silent", 4_000),
      LIMITS.budgetMs,
    ],
    ["are reset when used", ({ network }) => network.spoil("reset"), FRESH_MS],
    ["only say 503", ({ fail }) => fail(), FRESH_MS],
    ...CUTS.map((reply, nth): typeof FAULTS[number] => [
      `cut each first response (${nth + 1})`,
      ({ replyOnce }) => replyOnce(reply),
      PROMPT_MS,
    ]),
  ];

for (const [what, spoil, ms] of FAULTS) {
  Deno.test(`connections: when they ${what}, everybody gets the response, and soon at once again`, async () => {
    await Promise.all(services.map(async (service) => {
      const { protocol, askForMany } = service;
      await askForMany();
      spoil(service);
      const tookMs = await askForMany();
      assert(tookMs < ms, `${protocol} took ${tookMs} ms`);
      const afterMs = await askForMany();
      assert(afterMs < PROMPT_MS, `${protocol} took ${afterMs} ms afterwards`);
    }));
  });
}

Deno.test("connections: none of this leaves a line in the log", async () => {
  await Promise.all(services.map(async ({ network, edgeFunction }) => {
    // A failed lookup does, and what was logged before comes out of the pipe before.
    network.spoil("silent", LIMITS.budgetMs + 1_000);
    const response = check(crypto.randomUUID(), "a", edgeFunction.url);
    await assertResponse(response, DATABASE_ERROR);
    const lines = await linesOf(edgeFunction, 1);
    assertEquals(lines.map((line) => JSON.parse(line).code), ["timeout"]);
  }));
});
