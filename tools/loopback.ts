import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets `Deno.serve` listen on a free loopback port, over TLS if it gets a key. */
export function serveOnLoopback(
  handler: Deno.ServeHandler<Deno.NetAddr>,
  tls?: Deno.TlsCertifiedKeyPem,
) {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve({ ...options, ...tls }, handler);
  const { port } = server.addr;
  const url = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
  return { url, port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/**
 * Lets a server of Node listen on a port of this machine; 0 means any free one. Disposing of the
 * result closes the server, and the connections of an HTTP server.
 */
export async function listenOnLoopback(
  server: Server & { closeAllConnections?: () => void },
  wantedPort = 0,
) {
  await once(server.listen(wantedPort, "127.0.0.1"), "listening");
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
