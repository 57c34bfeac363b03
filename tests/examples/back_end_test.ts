/** The requests on `examples/back-end/README.md`, sent as they stand there to the local stack. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { fillIn, readBlocks, sendRequest } from "../support/pages.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const PAGE = "examples/back-end/README.md";
const readRequests = (heading: string) => readBlocks(PAGE, "http", heading);

/** Sends a request of the page. Returns the status and the body, with a blank between them. */
function send(request: string, values: Record<string, string>) {
  const { SECRET_KEY, API_URL } = service.settings;
  return sendRequest(fillIn(request, { "secret key": SECRET_KEY, ...values }, API_URL));
}

Deno.test("back end: the request that issues a key, sent twice → 201, and then 409", async () => {
  const values = { key: crypto.randomUUID(), project_id: crypto.randomUUID() };
  const [post = ""] = await readRequests("Issue a key");
  const statuses = [];
  for (const _nth of [1, 2]) statuses.push(parseInt(await send(post, values)));
  await service.changeKeys("DELETE", `?id=eq.${values.key}`);
  assertEquals(statuses, [201, 409]);
});

Deno.test("back end: those of the first use give Amelia an unused key of the product, and no other", async () => {
  await using product = await service.issueKeys([null, "Bessie"]);
  const { keys: [unused, bessies], project_id } = product;
  const amelias = { ...unused!, curr_user: "Amelia" };
  const uses = [
    { key: bessies!.id, project_id, patch: [], get: [bessies] },
    { key: unused!.id, project_id: crypto.randomUUID(), patch: [], get: [] },
    { key: unused!.id, project_id, patch: [amelias], get: [amelias] },
    { key: unused!.id, project_id, patch: [], get: [amelias] }, // It is repeated.
  ];
  const [patch = "", get = ""] = await readRequests("The first use in other");
  for (const use of uses) {
    const values = { key: use.key, project_id: use.project_id, name: "Amelia" };
    assertEquals(await send(patch, values), `200 ${JSON.stringify(use.patch)}`);
    assertEquals(await send(get, values), `200 ${JSON.stringify(use.get)}`);
  }
});

Deno.test("back end: a used key gets a new name, and is revoked; no other key is changed", async () => {
  await using product = await service.issueKeys(["Amelia", "Bessie", null]);
  const { keys: [amelias, , unused], project_id } = product;
  const [rename = ""] = await readRequests("Change the name of a key");
  const [revoke = ""] = await readRequests("Revoke a key after a refund");
  const values = { key: amelias!.id, name: "Charles" };
  const renamed = { ...amelias, curr_user: "Charles" };
  assertEquals(await send(rename, { ...values, key: unused!.id }), "200 []");
  assertEquals(await send(rename, values), `200 ${JSON.stringify([renamed])}`);
  await assertResponse(service.ask(project_id, "Charles"), ACTIVE);
  await assertResponse(service.ask(project_id, "Amelia"), NOT_FOUND);
  assertStringIncludes(await send(revoke, values), '"curr_user":"Charles"');
  assertEquals(await send(revoke, values), "200 []"); // It is repeated.
  await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
  await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
});
