import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "../loopback.ts";
import { FUNCTION_URL_PATH } from "../project.ts";
import { API_PAGE, serveApiPage } from "./api_page.ts";

/** Where requests go. Tests may change it. */
export type Targets = Record<"dataApi" | "edgeFunction", { url: string | URL }>;

// A function in an endless loop prints nothing, and keeps Deno's watcher from seeing an edit.
const NO_RESPONSE =
  "No response. Look at the terminal of `deno task start`, and fix what it shows. If it shows " +
  "nothing, or if that does not help, end it with Ctrl-C and start it again.";

/**
 * Serves at one loopback address: the Data API, the edge function and, at `/`, a page to try it.
 * Requests that arrive before the targets have started wait for them. If a target does not respond,
 * the gateway responds with 503.
 */
export async function startGateway(port: number, starting: Promise<Targets>) {
  // In milliseconds: longer than the function takes for any request.
  const proxy = createProxyServer({ proxyTimeout: 30_000 });
  proxy.on("error", (_error, _request, response) => {
    const isOpen = response instanceof ServerResponse && !response.headersSent;
    if (isOpen) respond(response, 503, NO_RESPONSE);
    // The target's response broke off: so does this one.
    else response?.destroy();
  });

  const server = createServer(async (request, response) => {
    // Resolves `..`, so that a prefix cannot hide another path.
    const address = URL.parse(request.url ?? "", "http://127.0.0.1");
    const { pathname, search } = address ?? { pathname: "", search: "" };
    const reads = request.method === "GET" || request.method === "HEAD";
    if (reads && pathname in API_PAGE) {
      // Reading a file fails while an editor replaces it.
      return await serveApiPage(pathname, response)
        .catch((error: Error) => respond(response, 503, error.message));
    }
    const isFunction = `${pathname}/`.startsWith(`${FUNCTION_URL_PATH}/`);
    if (!isFunction && !pathname.startsWith("/rest/v1/")) {
      const paths = `${FUNCTION_URL_PATH} and /rest/v1/`;
      return respond(response, 404, `Nothing here but ${paths}`);
    }
    const { edgeFunction, dataApi } = await starting;
    request.url = pathname + search;
    if (isFunction) request.url = request.url.replace("/functions/v1", "");
    const target = (isFunction ? edgeFunction : dataApi).url;
    proxy.web(request, response, { target });
  });

  return await listenOnLoopback(server, port);
}

function respond(response: ServerResponse, status: number, message: string) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ message }));
}
