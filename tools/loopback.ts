import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";

/** A server on a loopback port. Disposing of it ends it. */
export interface LoopbackServer extends AsyncDisposable {
  /** Its address, without TLS. */
  url: string;
  /** Its TCP port. */
  port: number;
}

/** Starts a server that responds with what the handler gives. */
export function serveOnLoopback(
  handler: (request: Request) => Response | Promise<Response>,
): LoopbackServer {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
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
 * Lets a server of Node listen, on any free port when none is given. Disposing of it ends it, and
 * one of HTTP whoever is connected. If the port cannot be taken, the `code` of the error says why.
 */
export async function listenOnLoopback(
  server: Server | HttpServer,
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
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

/** A TCP port that nobody listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
