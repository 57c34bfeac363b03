/** The local stack, where it has to do as a hosted project does, or say that it cannot. */
import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { CHECK_PATH, SEEDED } from "../../tools/project.ts";
import * as service from "../support/service_under_test.ts";

/** POSTs about a user who has a key, each to a path, and the status of the response. */
const POSTS: { when: string; path: string; headers?: Record<string, string>; status: number }[] = [
  {
    // Java's HttpClient and `curl --http2` do so. Deno 2.9 itself would respond with 400.
    when: "an offer to upgrade to HTTP/2",
    path: CHECK_PATH,
    headers: { "Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "" },
    status: 200,
  },
  // The first segment behind `/functions/v1/` is the function's name, and the rest does not count.
  { when: "a slash behind the function's name", path: `${CHECK_PATH}/`, status: 200 },
  { when: "a path and a query behind it", path: `${CHECK_PATH}/x?y=1`, status: 200 },
  { when: "the name of no function", path: `${CHECK_PATH}x`, status: 404 },
];

for (const { when, path, headers = {}, status } of POSTS) {
  Deno.test(`gateway: ${when} → ${status}, which a page of another origin can read`, async () => {
    const body = JSON.stringify(SEEDED);
    const length = { "Content-Length": body.length };
    const options = { method: "POST", headers: { ...headers, ...length } };
    // Not `fetch`, which sends no offer to upgrade.
    const sent = request(service.urlOf(path), options).end(body);
    const [response] = await once(sent, "response") as [IncomingMessage];
    response.resume();
    assertEquals(response.statusCode, status);
    assertEquals(response.headers["access-control-allow-origin"], "*");
  });
}
