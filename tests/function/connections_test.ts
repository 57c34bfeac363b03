/** Connections to the Data API: those that go bad, on HTTP/2, as hosted; and replacements. */
import FakeTimers from "@sinonjs/fake-timers";
import { once } from "node:events";
import { createServer } from "node:http";
import * as net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_FOLDER } from "../../tools/project.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { ACTIVE, DATABASE_ERROR } from "../support/contract.ts";
import { logged, productOf } from "../support/data_api_stub.ts";
import { assertResponse, checkAt } from "../support/requests.ts";

// Self-signed for `localhost` until 2126. For these tests alone, so no secret.
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

const certFile = await Deno.makeTempFile();
await Deno.writeTextFile(certFile, cert);
Deno.test.afterAll(() => Deno.remove(certFile));

/** Starts the function, a Data API, and a network between them whose connections can go bad. */
async function start() {
  await using started = new AsyncDisposableStack();
  const used = new Set<number>();
  const bad = new Set<number>();
  // Deno.serve, because Deno 2.9.6 now and then crashes in Node's HTTP/2 server.
  const dataApi = started.use(
    serveOnLoopback(({ url }, { remoteAddr: { port } }) => {
      // The caller's port identifies the connection.
      used.add(port);
      if (bad.has(port)) return new Response("", { status: 503 });
      // Queries about the user "403" get a 403.
      if (url.includes("=eq.403&")) return new Response("", { status: 403 });
      return Response.json([{ project_id: productOf(url) }]);
    }, { cert, key }),
  );

  // The network passes bytes on until a connection dies. The function then hears nothing more.
  const connections: net.Socket[] = [];
  const dead = new Set<net.Socket>();
  const relay = net.createServer((client) => {
    const upstream = net.connect(dataApi.port, "127.0.0.1");
    connections.push(client);
    client.on("data", (bytes) => dead.has(client) || upstream.write(bytes));
    upstream.on("data", (bytes) => dead.has(client) || client.write(bytes));
    client.on("error", () => {}).on("close", () => upstream.destroy());
    upstream.on("error", () => {});
    upstream.on("close", () => dead.has(client) || client.destroy());
  });
  const network = started.use(await listenOnLoopback(relay));

  const url = `https://localhost:${network.port}`;
  const env = { DENO_CERT: certFile };
  const edgeFunction = started.use(await startFunction(url, { env }));
  /** Lets callers ask at once. Returns how many get a 500. The others get a 200. */
  const ask = async (username = "a", callers = 8): Promise<number> => {
    const asking = Array.from({ length: callers }, async () => {
      const product = crypto.randomUUID();
      const response = await checkAt(edgeFunction.url, product, username);
      const hasFailed = response.status === DATABASE_ERROR.status;
      await assertResponse(response, hasFailed ? DATABASE_ERROR : ACTIVE);
      return hasFailed;
    });
    return (await Promise.all(asking)).filter((it) => it).length;
  };
  // One lookup opens a connection. Eight at once share it, as on HTTP/2.
  assertEquals(await ask("a", 1) + await ask(), 0);
  assertEquals(connections.length, 1);
  return Object.assign(started.move(), {
    ask,
    /** Lets all connections made so far die in silence. */
    breakNetwork: () => connections.forEach((client) => dead.add(client)),
    /** Lets all connections used so far lead to a 503. */
    breakBackend: () => used.forEach((port) => bad.add(port)),
    connections,
    edgeFunction,
  });
}

const FAULTS = [
  ["die in silence", "breakNetwork", "timeout 0"],
  ["only lead to a 503", "breakBackend", "http_503 503"],
] as const;

for (const [what, fault, line] of FAULTS) {
  Deno.test(`connections: those that ${what} cost one round of lookups`, async () => {
    await using setup = await start();
    setup[fault]();
    const failed = await setup.ask();
    assert(failed > 0, "no lookup used a bad connection");
    assertEquals(await setup.ask() + await setup.ask() + await setup.ask(), 0);
    const lines = await logged(setup.edgeFunction.output, failed);
    assertEquals(lines, Array(failed).fill(line));
  });
}

Deno.test("connections: those that died while idle cost no lookup", async () => {
  await using setup = await start();
  setup.breakNetwork();
  await sleep(12_000);
  assertEquals(await setup.ask(), 0);
});

Deno.test("connections: those that led to a lasting failure are kept", async () => {
  await using setup = await start();
  assertEquals(await setup.ask("403"), 8);
  assertEquals(await setup.ask(), 0);
  assertEquals(setup.connections.length, 1);
});

/** Loads the module anew, which makes its first client. */
const importModule = () =>
  import(`${FUNCTION_FOLDER}data_api.ts?${crypto.randomUUID()}`);

/** Runs code as in a runtime that makes no clients. */
async function withoutClients<T>(act: () => T): Promise<Awaited<T>> {
  const original = Deno.createHttpClient;
  Deno.createHttpClient = () => {
    throw new TypeError("Deno.createHttpClient is not a function");
  };
  try {
    return await act();
  } finally {
    Deno.createHttpClient = original;
  }
}

Deno.test("connections: replaced at most once in 5 s, then closed", async () => {
  const time = FakeTimers.install({ toFake: ["performance"] });
  using _time = { [Symbol.dispose]: () => time.uninstall() };
  const opened: net.Socket[] = [];
  const server = createServer(async (_request, response) => {
    await sleep(100);
    response.end("[]");
  });
  server.keepAliveTimeout = 60_000; // The client has to close idle connections.
  server.on("connection", (connection) => opened.push(connection));
  await using dataApi = await listenOnLoopback(server);
  const { fetchDataApi, replaceConnections } = await importModule();
  /** Waits until a connection is closed. Rejects after 5 s. */
  const closed = (connection: net.Socket) =>
    connection.closed ||
    once(connection, "close", { signal: AbortSignal.timeout(5_000) });
  /** Sends a query. Fails unless so many were opened until now, and all but the newest close. */
  const assertOpened = async (expected: number) => {
    await fetchDataApi(dataApi.url);
    // Time for Deno to take the connection back.
    await sleep(100);
    assertEquals(opened.length, expected);
    await Promise.all(opened.slice(0, -1).map(closed));
  };

  await assertOpened(1);
  const underWay = fetchDataApi(dataApi.url);
  replaceConnections();
  await assertOpened(2);
  await underWay;
  time.tick(4_999);
  replaceConnections();
  await assertOpened(2);
  time.tick(1);
  await withoutClients(replaceConnections); // No other can be made: it is kept.
  await assertOpened(2);
  replaceConnections();
  await Promise.all(opened.map(closed));
});

Deno.test("connections: a runtime that makes no clients uses its default one", async () => {
  const { fetchDataApi, replaceConnections } = await withoutClients(
    importModule,
  );
  await withoutClients(replaceConnections);
  await using dataApi = serveOnLoopback(() => new Response("[]"));
  assertEquals(await (await fetchDataApi(dataApi.url)).text(), "[]");
});
