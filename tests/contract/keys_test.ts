/** The life of a key: issued, used, moved, revoked; and who may read and issue keys. */
import { assert } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as subject from "../support/service_under_test.ts";

const { changeKeys, check, isReadOnly, issueKeys } = subject;
const test = isReadOnly ? Deno.test.ignore : Deno.test;

for (const name of ["null", "NULL", "undefined", "None", " ", "Amelia"]) {
  test(`key: unused, it does not match ${JSON.stringify(name)}`, async () => {
    await using product = await issueKeys([null]);
    await assertResponse(check(product.project_id, name), NOT_FOUND);
  });
}

test("key: several match their present user, and nobody once they are revoked", async () => {
  await using product = await issueKeys([null, null]);
  const search = `?project_id=eq.${product.project_id}`;
  await changeKeys("PATCH", search, { curr_user: "Amelia" });
  await assertResponse(check(product.project_id, "Amelia"), ACTIVE);

  await changeKeys("PATCH", search, { curr_user: "Bessie" });
  await assertResponse(check(product.project_id, "Amelia"), NOT_FOUND);
  await assertResponse(check(product.project_id, "Bessie"), ACTIVE);

  await changeKeys("DELETE", search);
  await assertResponse(check(product.project_id, "Bessie"), NOT_FOUND);
});

const isDenied = ({ status }: Response) => status === 401 || status === 403;

// Once, if there is no publishable key.
for (const apikey of new Set(["", subject.service.PUBLISHABLE_KEY])) {
  test(`key: with ${apikey || "no key"}, none can be read or issued`, async () => {
    await using product = await issueKeys(["Amelia"]);
    const { project_id: id } = product;
    const table = new URL("/rest/v1/activation_keys", subject.service.API_URL);
    const type = { "Content-Type": "application/json" };
    const headers = apikey ? { apikey, ...type } : type;
    const read = await fetch(`${table}?project_id=eq.${id}`, { headers });
    const rows = await read.text();
    // PostgREST denies this. `@supabase/lite` grants every role every table: there, only row level
    // security hides the rows.
    assert(isDenied(read) || rows === "[]", rows);
    const body = JSON.stringify({ project_id: id, curr_user: "a" });
    const issued = await fetch(table, { method: "POST", headers, body });
    const text = await issued.text();
    assert(isDenied(issued), `${issued.status} ${text}`);
    await assertResponse(check(id, "a"), NOT_FOUND);
  });
}
