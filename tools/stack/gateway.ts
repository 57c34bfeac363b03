import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "../loopback.ts";
import { FUNCTION_URL_PATH } from "../project.ts";

/** Where requests go. Read anew each time: the watcher changes `url`, and a test `edgeFunction`. */
export type Targets = Record<"dataApi" | "edgeFunction", { url: string | URL }>;

// Why Ctrl-C: a function in an endless loop prints nothing, and Deno's watcher cannot restart it.
const NO_RESPONSE = "No response. Look at the terminal of `deno task start`. " +
  "If it shows nothing, end it with Ctrl-C, and start it again.";

/**
 * Serves the edge function and the Data API at one loopback address, as a project's gateway does.
 * If one of them does not respond, the gateway responds with 503.
 */
export async function startGateway(port: number, targets: Targets) {
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
    const { dataApi, edgeFunction } = targets;
    const target = isForFunction ? edgeFunction.url : dataApi.url;
    proxy.web(request, response, { target });
  });
  return await listenOnLoopback(server, port);
}
