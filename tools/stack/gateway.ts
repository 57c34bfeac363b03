import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { FUNCTION_PATH } from "../project.ts";
import { isApiPage, serveApiPage } from "./api_page.ts";

/** A running gateway. Disposing of it ends it, whoever is connected. */
export interface Gateway extends AsyncDisposable {
  url: URL;
}

/** Where the gateway finds what it puts behind one address. */
export interface Targets {
  /** The Data API's address. */
  dataApi(): URL | undefined;
  /** The function's address, while it runs. */
  edgeFunction(): URL | undefined;
}

/**
 * Puts the Data API and the edge function behind one loopback address, as the gateway of
 * `supabase start` and of a hosted project does. Method, headers and body are passed on as they
 * come. If the target is not running, the gateway responds with 502. At `/` it has a page to try the
 * two on.
 *
 * @param port TCP port of the address; 0 for any free one.
 * @param targets Asked for each request.
 * @throws {Error} When the port cannot be taken; `code` says why.
 */
export async function startGateway(
  port: number,
  targets: Targets,
): Promise<Gateway> {
  const proxy = createProxyServer({});
  proxy.on("error", (_error, _request, response) => {
    if (response instanceof ServerResponse && !response.headersSent) {
      answer(response, 502, "The edge function or the Data API is not there");
    } else {
      // The answer broke off on the other side, so it breaks off here.
      response?.destroy();
    }
  });

  const server = createServer((request, response) => {
    // Resolves `..`, so that no path leads out of where it begins.
    const address = URL.parse(request.url ?? "", "http://127.0.0.1");
    const { pathname, search } = address ?? { pathname: "", search: "" };
    const reads = request.method === "GET" || request.method === "HEAD";
    if (reads && isApiPage(pathname)) {
      // An editor may be writing the file.
      serveApiPage(pathname, response)
        .catch((error: Error) => answer(response, 503, error.message));
      return;
    }
    const isFunction = pathname === FUNCTION_PATH ||
      pathname.startsWith(`${FUNCTION_PATH}/`);
    if (!isFunction && !pathname.startsWith("/rest/v1/")) {
      const paths = `${FUNCTION_PATH} and /rest/v1/`;
      return answer(response, 404, `Nothing here but ${paths}`);
    }
    const target = isFunction ? targets.edgeFunction() : targets.dataApi();
    if (!target) {
      const who = isFunction ? "edge function" : "Data API";
      return answer(response, 502, `The ${who} is not running at the moment`);
    }
    request.url = pathname + search;
    if (isFunction) {
      request.url = request.url.replace("/functions/v1", "");
    } else if (request.headers["sec-fetch-site"] === "same-origin") {
      // From the page at `/`. The Data API rejects a secret key from any other page, as a hosted
      // project's does: it tells a browser by this header.
      delete request.headers["user-agent"];
    }
    proxy.web(request, response, { target });
  });

  // `closeAllConnections` of Deno leaves those that are sending a request.
  const connections = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${address.port}`),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of connections) connection.destroy();
      }),
  };
}

function answer(
  response: ServerResponse,
  status: number,
  message: string,
): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ message }));
}
