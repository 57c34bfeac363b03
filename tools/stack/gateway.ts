import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "../loopback.ts";
import { FUNCTION_PATH } from "../project.ts";
import { isApiPage, serveApiPage } from "./api_page.ts";

/** A running gateway. Disposing of it ends it, whoever is connected. */
export interface Gateway extends AsyncDisposable {
  url: URL;
}

/** What the gateway puts behind one address, each with its own address while it runs. */
export interface Targets {
  dataApi?: { url: string };
  edgeFunction?: { readonly url: URL | undefined };
}

const NOT_RUNNING = "The edge function or the Data API is not running";

/**
 * Puts the Data API and the edge function behind one loopback address, as the gateway of
 * `supabase start` and of a hosted project does. Method, headers and body are passed on as they
 * come. If the target is not running, the gateway responds with 502. At `/` it has a page to try the
 * two on.
 *
 * @param port TCP port of the address; 0 for any free one.
 * @param targets Looked at for each request.
 * @throws {Error} When the port cannot be taken; `code` says why.
 */
export async function startGateway(
  port: number,
  targets: Targets,
): Promise<Gateway> {
  const proxy = createProxyServer({});
  proxy.on("error", (_error, _request, response) => {
    if (response instanceof ServerResponse && !response.headersSent) {
      answer(response, 502, NOT_RUNNING);
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
    const target = (isFunction ? targets.edgeFunction : targets.dataApi)?.url;
    if (!target) return answer(response, 502, NOT_RUNNING);
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

  const listening = await listenOnLoopback(server, port);
  return { ...listening, url: new URL(listening.url) };
}

function answer(
  response: ServerResponse,
  status: number,
  message: string,
): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ message }));
}
