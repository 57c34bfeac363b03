/** A server on a free loopback port. Disposing of it ends it. */
export interface LoopbackServer extends AsyncDisposable {
  url: string;
}

/** Starts a server that responds with what the handler gives. */
export function serveOnLoopback(
  handler: (request: Request) => Response | Promise<Response>,
): LoopbackServer {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    handler,
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
