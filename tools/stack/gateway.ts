import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "../loopback.ts";
import { FUNCTION_PATH } from "../project.ts";
import { API_PAGE, serveApiPage } from "./api_page.ts";

/** What the gateway passes requests on to, once it runs. */
type Targets = { [name in "dataApi" | "edgeFunction"]?: { url: string | URL } };

const LOOK =
  "Not running at the moment: look at the screen of `deno task start`";

/** What that says. A function in an endless loop keeps Deno's watcher from seeing an edit. */
const NO_RESPONSE =
  "A request got no response. Save a fix of what is above. If nothing is, or if that does not " +
  "help, end this with Ctrl-C, and start it again.";

/** Longer than the function takes for any request, in milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * Puts the Data API, the edge function and, at `/`, a page to try them on behind one loopback
 * address. `targets` is looked at for each request. Responds with 503 if the target does not.
 */
export async function startGateway(port: number, targets: Targets) {
  const proxy = createProxyServer({ proxyTimeout: PATIENCE_MS });
  // Said once: callers ask again.
  let responds = true;
  proxy.on("proxyRes", () => responds = true);
  proxy.on("error", (_error, _request, response) => {
    if (response instanceof ServerResponse && !response.headersSent) {
      answer(response, 503, LOOK);
      if (responds) console.error(NO_RESPONSE);
      responds = false;
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
    if (reads && pathname in API_PAGE) {
      // An editor may be writing the file.
      serveApiPage(pathname, response)
        .catch((error: Error) => answer(response, 503, error.message));
      return;
    }
    const isFunction = `${pathname}/`.startsWith(`${FUNCTION_PATH}/`);
    if (!isFunction && !pathname.startsWith("/rest/v1/")) {
      const paths = `${FUNCTION_PATH} and /rest/v1/`;
      return answer(response, 404, `Nothing here but ${paths}`);
    }
    const target = (isFunction ? targets.edgeFunction : targets.dataApi)?.url;
    if (!target) return answer(response, 503, LOOK);
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

  return await listenOnLoopback(server, port);
}

function answer(response: ServerResponse, status: number, message: string) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ message }));
}
