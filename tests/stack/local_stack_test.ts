/** The local stack, where it has to do as a hosted project does, or say that it cannot. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { CHECK_PATH, SEEDED } from "../../tools/project.ts";
import { ACTIVE } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
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

/** Requests that issue keys, each with one value or four. PGlite takes 32,767 values at once. */
const INSERTS = [
  { keys: 8_191, columns: 4, status: 201 }, // 32,764 values.
  { keys: 8_192, columns: 4, status: 413 }, // 32,768 values.
  { keys: 9_000, columns: 1, status: 201 },
];

for (const { keys, columns, status } of INSERTS) {
  Deno.test(`data API: ${keys} keys with values in ${columns} of the columns → ${status}, and an active user stays active`, async () => {
    await using product = await service.issueKeys(["Amelia"]);
    const { project_id } = product;
    const created_at = new Date();
    const rows = Array.from(
      { length: keys },
      () =>
        columns === 1
          ? { project_id }
          : { id: crypto.randomUUID(), project_id, curr_user: null, created_at },
    );
    const { SECRET_KEY: apikey } = service.settings;
    const response = await fetch(service.urlOf("/rest/v1/activation_keys"), {
      method: "POST",
      headers: { apikey, "Content-Type": "application/json" },
      body: JSON.stringify(rows),
    });
    const text = await response.text();
    assertEquals(response.status, status, text);
    if (status === 413) assertStringIncludes(text, "Send fewer rows in a request.");
    await assertResponse(service.ask(project_id, "Amelia"), ACTIVE);
  });
}
