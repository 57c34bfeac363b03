import { createProxyServer } from "httpxy";
import { createServer, ServerResponse } from "node:http";
import { listenOnLoopback } from "./loopback.ts";

// Why Ctrl-C: a function in an endless loop prints nothing, and Deno's watcher cannot restart it.
const NO_RESPONSE = "No response. Look at the terminal of `deno task start`. " +
  "If it shows nothing, end it with Ctrl-C, and start it again.";

/**
 * Serves the Data API and edge functions at one loopback address, as a project's gateway does.
 * Responds with 503 if they do not. `functions` has the address of each function by its path at the
 * gateway. An address is read anew for each request, because the watcher changes it.
 */
export function startGateway(port: number, dataApiUrl: string, functions: Record<string, URL>) {
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
    const functionUrl = functions[url.split("?")[0]!];
    // As on the platform, where the path of a function begins with its name.
    if (functionUrl) request.url = url.replace("/functions/v1", "");
    proxy.web(request, response, { target: functionUrl ?? dataApiUrl });
  });
  return listenOnLoopback(server, port);
}
