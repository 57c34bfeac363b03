import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A server on a loopback port. Disposing of it ends it. */
export interface LoopbackServer extends AsyncDisposable {
  /** Its address, without TLS. */
  url: string;
  /** Its TCP port. */
  port: number;
}

/**
 * Starts a server that responds with what the handler gives.
 *
 * @param handler What responds.
 * @param certificate Over TLS with this. Without TLS, when not given.
 */
export function serveOnLoopback(
  handler: (request: Request) => Response | Promise<Response>,
  certificate?: Deno.TlsCertifiedKeyPem,
): LoopbackServer {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...certificate },
    handler,
  );
  const { port } = server.addr;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * Lets a server of Node listen. Disposing of it ends it, whoever is connected.
 *
 * @param server The server.
 * @param port Its TCP port; 0 for any free one.
 * @throws {Error} When the port cannot be taken; `code` says why.
 */
export async function listenOnLoopback(
  server: HttpServer | HttpsServer,
  port = 0,
): Promise<LoopbackServer> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    [Symbol.asyncDispose]: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
