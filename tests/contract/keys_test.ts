/** The life of a key: issued, used, moved, revoked; and who may read and issue keys. */
import { assert } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const { changeKeys, check, issueKeys, testWithKeys: test } = service;

test("key: it matches its present user; nobody while unused, or once revoked", async () => {
  await using product = await issueKeys([null]);
  for (const name of ["null", "NULL", "undefined", "None", " ", "Amelia"]) {
    await assertResponse(check(product.project_id, name), NOT_FOUND, name);
  }

  const search = `?project_id=eq.${product.project_id}`;
  await changeKeys("PATCH", search, { curr_user: "Amelia" });
  await assertResponse(check(product.project_id, "Amelia"), ACTIVE);

  await changeKeys("PATCH", search, { curr_user: "Bessie" });
  await assertResponse(check(product.project_id, "Amelia"), NOT_FOUND);
  await assertResponse(check(product.project_id, "Bessie"), ACTIVE);

  await changeKeys("DELETE", search);
  await assertResponse(check(product.project_id, "Bessie"), NOT_FOUND);
});

test("key: forty requests at once each get their own response", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `Pilot ${index}`);
  // One of them has several keys.
  await using product = await issueKeys([...names, null, "Pilot 0", "Pilot 0"]);
  await Promise.all(names.flatMap((name) => [
    assertResponse(check(product.project_id, name), ACTIVE),
    assertResponse(check(product.project_id, name.toLowerCase()), NOT_FOUND),
  ]));
});

test("key: none can be read or issued without the secret key", async () => {
  await using product = await issueKeys(["Amelia"]);
  const denied = [401, 403];
  const { API_URL, PUBLISHABLE_KEY } = service.serviceUnderTest();
  const table = `${API_URL}/rest/v1/activation_keys`;
  const { project_id } = product;
  const search = `?project_id=eq.${project_id}`;
  const body = JSON.stringify({ project_id, curr_user: "a" });
  for (const apikey of ["", PUBLISHABLE_KEY]) {
    const headers = { apikey, "Content-Type": "application/json" };
    const read = await fetch(table + search, { headers });
    // PostgREST denies this. `@supabase/lite` grants every role every table: there, only row level
    // security hides the rows.
    const rows = await read.text();
    assert(denied.includes(read.status) || rows === "[]", rows);
    const issued = await fetch(table, { method: "POST", headers, body });
    const text = await issued.text();
    assert(denied.includes(issued.status), `${issued.status} ${text}`);
  }
  await assertResponse(check(project_id, "a"), NOT_FOUND);
});
