/** The life of a key: issued, activated, moved, revoked; and who may read and change keys. */
import { assert } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const test = service.isReadOnly ? Deno.test.ignore : Deno.test;

test("key: one without a user makes nobody active", async () => {
  await using product = await service.issueKeys([null]);
  for (const name of ["null", "NULL", "undefined", " ", "Amelia"]) {
    await assertResponse(service.ask(product.project_id, name), NOT_FOUND);
  }
});

// Two keys, because a lookup that asks for a single row would fail then.
test("key: two keys of a product make Amelia active, then Bessie, and nobody once they are revoked", async () => {
  await using product = await service.issueKeys([null, null]);
  const { project_id } = product;
  const search = `?project_id=eq.${project_id}`;
  await service.changeKeys("PATCH", search, { curr_user: "Amelia" });
  await assertResponse(service.ask(project_id, "Amelia"), ACTIVE);

  await service.changeKeys("PATCH", search, { curr_user: "Bessie" });
  await assertResponse(service.ask(project_id, "Amelia"), NOT_FOUND);
  await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);

  await service.changeKeys("DELETE", search);
  await assertResponse(service.ask(project_id, "Bessie"), NOT_FOUND);
});

/** Callers of the Data API who are not the operator. */
const CALLERS = [{ who: "no API key", apikey: "" }];
// For a hosted project, the publishable key may not be given.
const { PUBLISHABLE_KEY } = service.settings;
if (PUBLISHABLE_KEY) CALLERS.push({ who: "the publishable key", apikey: PUBLISHABLE_KEY });

/** What they might try, while the table has Amelia's key. */
const ATTEMPTS = [
  { verb: "read", method: "GET" },
  { verb: "change", method: "PATCH", row: { curr_user: "Bessie" } },
  { verb: "delete", method: "DELETE" },
  { verb: "issue", method: "POST", row: { curr_user: "Bessie" } },
];

for (const { who, apikey } of CALLERS) {
  for (const { verb, method, row } of ATTEMPTS) {
    test(`key: with ${who}, nobody can ${verb} one`, async () => {
      await using product = await service.issueKeys(["Amelia"]);
      const { project_id } = product;
      const path = `activation_keys${method === "POST" ? "" : `?project_id=eq.${project_id}`}`;
      const json = row && { project_id, ...row };
      const { status, text } = await service.callDataApi(method, path, json, apikey);
      assert(status === 401 || status === 403, `${status} ${text}`); // Some services send 401.
      await assertResponse(service.ask(project_id, "Amelia"), ACTIVE);
      await assertResponse(service.ask(project_id, "Bessie"), NOT_FOUND);
    });
  }
}
