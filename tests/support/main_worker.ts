import { once } from "node:events";
import { createServer, type IncomingMessage, request as send } from "node:http";
import { pipeline } from "node:stream/promises";
import { listenOnLoopback } from "../../tools/loopback.ts";

/**
 * Starts a relay that does what the hosted platform's main worker does between the caller and the
 * function (`ext/workers/user_workers.js` of the edge runtime): it passes a response on once the
 * caller's body has ended as well, or can no longer be passed on.
 */
export async function startMainWorker(target: URL) {
  const server = createServer(async (request, response) => {
    const { url = "", method, headers } = request;
    const sending = send(new URL(url, target), { method, headers });
    let hasResponded = false;
    sending.once("response", () => hasResponded = true);
    const sent = pipeline(request, async function* (pieces) {
      for await (const piece of pieces) {
        // After its response, the function takes no more of the body.
        if (hasResponded) return;
        yield piece;
      }
    }, sending);
    const responded = once(sending, "response");
    const [result] = await Promise.allSettled([responded, sent]);
    if (result.status === "rejected") return void response.destroy();
    const received: IncomingMessage = result.value[0];
    response.writeHead(received.statusCode ?? 0, received.headers);
    received.pipe(response);
  });
  return await listenOnLoopback(server);
}
