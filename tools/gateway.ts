import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "./loopback.ts";
import { FUNCTION_URL_PATH } from "./project.ts";

// Why Ctrl-C: a function in an endless loop prints nothing, and Deno's watcher cannot restart it.
const NO_RESPONSE = "No response. Look at the terminal of `deno task start`. " +
  "If it shows nothing, end it with Ctrl-C, and start it again.";

/**
 * Serves the Data API and the edge function at one loopback address, as a project's gateway does.
 * Responds with 503 if they do not. `functionUrl` is read anew each time: the watcher changes it.
 */
export function startGateway(
  port: number,
  dataApiUrl: string,
  functionUrl: URL,
) {
  // In milliseconds: longer than the function takes for any request.
  const proxy = createProxyServer({ proxyTimeout: 30_000 });
  proxy.on("error", (_error, _request, response) => {
    const isOpen = response instanceof ServerResponse && !response.headersSent;
    // If the target's response broke off, so does this one.
    if (!isOpen) return response?.destroy();
    response.writeHead(503, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ message: NO_RESPONSE }));
  });
  const server = createServer((request, response) => {
    const { url = "" } = request;
    const isForFunction = url.split("?")[0] === FUNCTION_URL_PATH;
    // As on the platform, where the path of a function begins with its name.
    if (isForFunction) request.url = url.replace("/functions/v1", "");
    const target = isForFunction ? functionUrl : dataApiUrl;
    proxy.web(request, response, { target });
  });
  return listenOnLoopback(server, port);
}
