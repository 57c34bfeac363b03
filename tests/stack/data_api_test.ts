/** The local stack's Data API, where `@supabase/lite` cannot do what PostgREST does. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ACTIVE } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

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
