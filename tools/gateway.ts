/** The gateway of the local stack: one address for the Data API and the edge function. */
import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "./loopback.ts";
import { CHECK_PATH } from "./project.ts";

/** What the local stack alone says of a path that is no edge function. */
export const NO_FUNCTION = "There is no edge function at";

// Why Ctrl-C: a function in an endless loop prints nothing, and Deno's watcher cannot restart it.
const NO_RESPONSE = "No response. Look at the terminal of `deno task start`. " +
  "If it shows nothing, end it with Ctrl-C, and start it again.";

/**
 * Serves the Data API and the edge function at one loopback address, as a project's gateway does.
 * Responds with 503 if they do not. The address of the function is read anew for each request,
 * because the watcher changes it.
 */
export function startGateway(port: number, dataApiUrl: string, functionUrl: URL) {
  // In milliseconds: longer than the function takes for any request.
  const proxy = createProxyServer({ proxyTimeout: 30_000 });
  // Otherwise, the function would not see a request until the first byte of its body has come.
  proxy.on("proxyReq", (proxied) => proxied.flushHeaders());
  proxy.on("error", (_error, _request, response) => {
    const isOpen = response instanceof ServerResponse && !response.headersSent;
    // If the target's response broke off, so does this one.
    if (!isOpen) return response?.destroy();
    respond(response, 503, NO_RESPONSE);
  });
  const server = createServer((request, response) => {
    const { url = "", headers } = request;
    // Java's HttpClient and `curl --http2` offer to upgrade. Deno 2.9 would respond with 400.
    delete headers.upgrade;
    // As on the platform, only the first segment tells the function, and its path begins with that.
    const [path] = url.match(/^\/functions\/v1\/[^/?]*/) ?? [];
    if (path === undefined) return proxy.web(request, response, { target: dataApiUrl });
    if (path !== CHECK_PATH) return respond(response, 404, `${NO_FUNCTION} ${path}.`);
    request.url = url.replace("/functions/v1", "");
    proxy.web(request, response, { target: functionUrl });
  });
  return listenOnLoopback(server, port);
}

/** Responds in the place of a function, with a message that a page of another origin can read. */
function respond(response: ServerResponse, status: number, message: string) {
  const headers = { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" };
  response.writeHead(status, headers);
  response.end(JSON.stringify({ message }));
}
