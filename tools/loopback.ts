/** Servers that listen on this machine alone. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets `Deno.serve` listen on a free port of this machine. */
export function serveOnLoopback(handler: Deno.ServeHandler<Deno.NetAddr>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  const url = `http://${server.addr.hostname}:${server.addr.port}`;
  return { url, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Lets a server of Node listen on a port of this machine; 0 is any free one. */
export async function listenOnLoopback(server: Server, wantedPort = 0) {
  await once(server.listen(wantedPort, "127.0.0.1"), "listening");
  const { address, port } = server.address() as AddressInfo;
  const dispose = async () => void await once(server.close(), "close");
  return { url: `http://${address}:${port}`, [Symbol.asyncDispose]: dispose };
}
