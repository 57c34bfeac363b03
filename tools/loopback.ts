import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Starts a server that responds with what the handler gives. Disposing of it ends it. */
export function serveOnLoopback(
  handler: (request: Request) => Response | Promise<Response>,
) {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    handler,
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  return { url, [Symbol.asyncDispose]: () => server.shutdown() };
}

/**
 * Lets a server of Node listen, on any free port when none is given. Disposing of it ends it, and
 * one of HTTP whoever is connected. If the port cannot be taken, the `code` of the error says why.
 */
export async function listenOnLoopback(
  server: Server & { closeAllConnections?: () => void },
  freeOrGiven = 0,
) {
  await once(server.listen(freeOrGiven, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections?.();
      await closed;
    },
  };
}

/** A TCP port that nobody listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
