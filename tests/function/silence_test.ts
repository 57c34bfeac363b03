/**
 * Connections to the Data API that die in silence, as when a load balancer forgets them: nothing is
 * reset, and nothing comes back.
 */
import { createServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { SEEDED } from "../../tools/project.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE } from "../support/answers.ts";
import { linesOf, projectOf } from "../support/data_api_stub.ts";
import { LIMITS } from "../support/limits.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { close } from "../support/wire.ts";

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

const rowOf = (path: string) => `[{"project_id":"${projectOf(path)}"}]`;

/** Servers with a key for everyone, over TLS. */
const serveHttp2 = () =>
  serveOnLoopback(({ url }) => new Response(rowOf(url)), { cert, key });
const serveHttp1 = () =>
  listenOnLoopback(createServer({ cert, key }, ({ url = "" }, response) => {
    response.end(rowOf(url));
  }));

/** Passes connections on, until they die: then it reads what comes, and passes nothing on. */
function startNetwork(port: number) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: { dead: boolean; ends: Deno.TcpConn[] }[] = [];
  const ended = (async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      const connection = { dead: false, ends: [client, server] };
      open.push(connection);
      const pass = () =>
        new TransformStream<Uint8Array, Uint8Array>({
          transform: (bytes, to) =>
            connection.dead ? undefined : to.enqueue(bytes),
        });
      for (const [from, to] of [[client, server], [server, client]] as const) {
        from.readable.pipeThrough(pass()).pipeTo(to.writable).catch(() => {});
      }
    }
  })();
  return {
    port: listener.addr.port,
    /** How many connections there have been. */
    connections: () => open.length,
    /** Lets those die that are open. */
    die() {
      for (const connection of open) connection.dead = true;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await ended;
      for (const { ends } of open) ends.forEach(close);
    },
  };
}

for (
  const [protocol, serve, hasPool] of [
    ["HTTP/2", serveHttp2, false],
    ["HTTP/1.1", serveHttp1, true],
  ] as const
) {
  Deno.test(`silence: dead connections cost no caller its response (${protocol})`, async () => {
    await using folder = await makeTempFolder();
    const root = new URL("root.pem", folder.url);
    await Deno.writeTextFile(root, cert);
    await using server = await serve();
    await using network = startNetwork(server.port);
    const API_URL = `https://localhost:${network.port}`;
    await using edgeFunction = await startFunction({
      env: {
        ...platformEnv({ ...LOCAL_SERVICE, API_URL }),
        DENO_CERT: fileURLToPath(root),
      },
    });
    const ask = (apartMs = 0) =>
      Promise.all(Array.from({ length: CALLERS }, async (_, caller) => {
        await sleep(apartMs * caller);
        const startedAt = performance.now();
        const response = check(crypto.randomUUID(), "a", edgeFunction.url);
        await assertAnswer(response, ACTIVE);
        return performance.now() - startedAt;
      }));

    // Alone, so that the others find its connection.
    await assertAnswer(check(SEEDED.project_id, "a", edgeFunction.url), ACTIVE);
    await ask();
    assertEquals(network.connections() > 1, hasPool);
    // The fresh connections can die, too.
    for (let times = 0; times < 2; times++) {
      network.die();
      const before = network.connections();
      for (const tookMs of await ask(100)) {
        const isSecond = tookMs > PROMPT_MS && tookMs < LIMITS.lastAttemptMs;
        assert(isSecond, `took ${Math.round(tookMs)} ms`);
      }
      // Not a client for each of them.
      const fresh = network.connections() - before;
      assert(hasPool || fresh < CALLERS / 2, `${fresh} fresh connections`);
      for (const tookMs of await ask()) {
        assert(tookMs < PROMPT_MS, `took ${Math.round(tookMs)} ms`);
      }
    }
    assertEquals(await linesOf(edgeFunction, 0), []);
  });
}
