/** Connections to the Data API that go bad, over TLS, on HTTP/2 and on HTTP/1.1. */
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
import { ACTIVE, DATABASE_ERROR, LIMITS } from "../support/contract.ts";
import { loggedLines, productOf } from "../support/data_api_stub.ts";
import { assertResponse, check } from "../support/requests.ts";

/** How many callers ask at once. */
const CALLERS = 8;

// A key that everybody may know: it and its certificate, for `localhost` and until 2126, are for these
// tests alone. Made by
// openssl req -x509 -newkey ed25519 -nodes -days 36500 -subj /CN=localhost -set_serial 1
//   -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:false
//   -addext subjectKeyIdentifier=none -addext authorityKeyIdentifier=none
const key = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIM8zM8LGxvbLNQ02uBsGIygJSlFp5j1Smu1Ovkq8+/VD
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIH+MIGxoAMCAQICAQEwBQYDK2VwMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDAgFw0y
NjExMjIyMTI2MDRaGA8yMTI2MTAyOTIxMjYwNFowFDESMBAGA1UEAwwJbG9jYWxo
b3N0MCowBQYDK2VwAyEAKbz/HV+o43mZ+5kjKurgFe1LdDcb54gegJdgSdnW+tij
JjAkMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAAMAUGAytlcANB
ANccWFjI5lOASiKZvW/IVwwm30MJ9XoO/Y0ZUzCZ9syXp/BTuy1mnzE67GJLGSGZ
eL8NKVKXy7AcHfo+0zZ2OQQ=
-----END CERTIFICATE-----`;

const root = await Deno.makeTempFile();
await Deno.writeTextFile(root, cert);
Deno.test.afterAll(() => Deno.remove(root));

/** A response of Node's. Over HTTP/2, it has a stream. */
type Response = ServerResponse & { stream?: ServerHttp2Stream };

/** What the Data API does with a request for a row. */
type Reply = (response: Response, row: string) => unknown;

const sendRow: Reply = (response, row) => response.end(row);
const sendError = (status: number, code: string): Reply => (response) =>
  response.writeHead(status).end(JSON.stringify({ code }));

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

/** Responses that break off. Deno takes the first two for whole. */
const CUTS = [
  cut(constants.NGHTTP2_NO_ERROR),
  cut(constants.NGHTTP2_CANCEL, { "Content-Length": 55 }),
  cut(),
];

/** Starts the function, a Data API, and a network between them whose connections can go bad. */
async function startOn(protocol: string) {
  await using unfinished = new AsyncDisposableStack();
  const server = protocol === "HTTP/2"
    ? createSecureServer({ cert, key })
    : createServer({ cert, key });
  // Those that have ended stay referenced: once, when they did not, Deno 2.9.6 crashed in nghttp2.
  const sessions: unknown[] = [];
  server.on("session", (session) => sessions.push(session));

  // What the first attempt of each lookup gets, and what everything on a connection gets.
  let firstReply = sendRow;
  const asked = new Set<string>();
  const badReplies = new Map<unknown, Reply>();
  const used = new Set<unknown>();
  server.on("request", ({ url = "" }: IncomingMessage, response: Response) => {
    const product = productOf(url);
    const connection = response.stream?.session ?? response.socket;
    used.add(connection);
    const reply = badReplies.get(connection) ??
      (asked.has(product) ? sendRow : firstReply);
    asked.add(product);
    reply(response, `[{"project_id":"${product}"}]`);
  });
  const dataApi = unfinished.use(await listenOnLoopback(server));

  // The network passes connections on, until they go bad.
  const connections: { fault?: "silent" | "reset" }[] = [];
  const relay = createRelay((client) => {
    const upstream = connect(dataApi.port, "127.0.0.1");
    const connection: typeof connections[number] = {};
    connections.push(connection);
    client.on("data", (bytes) => {
      if (connection.fault === "reset") client.resetAndDestroy();
      else if (!connection.fault) upstream.write(bytes);
    });
    upstream.on("data", (bytes) => connection.fault ?? client.write(bytes));
    client.on("error", () => {}).on("close", () => upstream.destroy());
    // One that died in silence says nothing of its end, either.
    upstream.on("error", () => {}).on("close", () => {
      if (connection.fault !== "silent") client.destroy();
    });
  });
  const network = unfinished.use(await listenOnLoopback(relay));

  const API_URL = `https://localhost:${network.port}`;
  const env = platformEnv({ ...LOCAL_SERVICE, API_URL });
  const edgeFunction = unfinished.use(
    await startFunction({ env: { ...env, DENO_CERT: root } }),
  );
  const running = unfinished.move();
  return {
    /** Callers ask at once. Returns how many get a 500. The others get a 200. */
    async ask(callers = CALLERS): Promise<number> {
      const requests = Array.from(
        { length: callers },
        () => check(crypto.randomUUID(), "a", edgeFunction.url),
      );
      const responses = await Promise.all(requests);
      for (const response of responses) {
        const isFailed = response.status === DATABASE_ERROR.status;
        await assertResponse(response, isFailed ? DATABASE_ERROR : ACTIVE);
      }
      return responses.filter(({ status }) => status !== 200).length;
    },
    /** Lets the open connections die in silence, or be reset when they are used. */
    breakNetwork(fault: "silent" | "reset") {
      for (const connection of connections) connection.fault = fault;
    },
    /** Lets the open connections get no other reply from now on. */
    breakBackend(reply: Reply) {
      for (const connection of used) badReplies.set(connection, reply);
    },
    /** Lets the first attempt of each lookup get this reply. */
    replyFirst: (reply: Reply) => void (firstReply = reply),
    /** How many connections have been made. */
    made: () => connections.length,
    /** The codes of the lookups that have failed, once there are so many. */
    async codes(expected: number): Promise<string[]> {
      const lines = await loggedLines(edgeFunction, expected);
      return lines.map((line) => JSON.parse(line).code);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Registers a test that is done on both protocols at once, because it waits for seconds. */
function testOnBoth(
  name: string,
  fn: (service: Awaited<ReturnType<typeof startOn>>) => Promise<void>,
) {
  Deno.test(`connections: ${name}`, async () => {
    await Promise.all(["HTTP/2", "HTTP/1.1"].map(async (protocol) => {
      await using service = await startOn(protocol);
      assertEquals(await service.ask(), 0, protocol);
      await fn(service);
    }));
  });
}

testOnBoth(
  "those that die in silence cost one round of lookups",
  async (service) => {
    service.breakNetwork("silent");
    const lost = await service.ask();
    assert(lost > 0, "nobody met a dead connection");
    for (let round = 0; round < 3; round++) {
      assertEquals(await service.ask(), 0);
    }
    assertEquals(await service.codes(lost), Array(lost).fill("timeout"));
  },
);

testOnBoth(
  "those that only lead to a 503 cost one round of lookups",
  async (service) => {
    service.breakBackend(sendError(503, "PGRST002"));
    const lost = await service.ask();
    assert(lost > 0, "nobody met a bad connection");
    for (let round = 0; round < 3; round++) {
      assertEquals(await service.ask(), 0);
    }
    assertEquals(await service.codes(lost), Array(lost).fill("PGRST002"));
  },
);

testOnBoth(
  "those that died while they were idle for over 10 s cost nobody anything",
  async (service) => {
    service.breakNetwork("silent");
    await sleep(LIMITS.idleMs + 2_000);
    assertEquals(await service.ask(), 0);
  },
);

testOnBoth(
  "those that are reset, and responses that break off, cost nobody anything",
  async (service) => {
    service.breakNetwork("reset");
    assertEquals(await service.ask(), 0);
    for (const reply of CUTS) {
      service.replyFirst(reply);
      assertEquals(await service.ask(), 0);
    }
  },
);

testOnBoth(
  "those that led to a failure which lasts are kept",
  async (service) => {
    const made = service.made();
    service.replyFirst(sendError(403, "42501"));
    assertEquals(await service.ask(1), 1);
    service.replyFirst(sendRow);
    assertEquals(await service.ask(1), 0);
    assertEquals(service.made(), made);
  },
);
