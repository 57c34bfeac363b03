/** The life of a key, in which three functions of the database write the table. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const test = service.isReadOnly ? Deno.test.ignore : Deno.test;

test("key: one that nobody has used makes nobody active", async () => {
  await using product = await service.issueKeys([null]);
  for (const name of ["null", "NULL", "undefined", " ", "Amelia"]) {
    await assertResponse(service.ask(product.project_id, name), NOT_FOUND);
  }
});

// Two keys, because a lookup that asks for a single row would fail then.
test("key: two keys of a product make Amelia active until both are revoked", async () => {
  await using product = await service.issueKeys(["Amelia", "Amelia"]);
  await assertResponse(service.ask(product.project_id, "Amelia"), ACTIVE);
  await product.revokeKeys();
  await assertResponse(service.ask(product.project_id, "Amelia"), NOT_FOUND);
});

const PLANE = "🛩"; // A code point of two UTF-16 units.
const [NFC, NFD] = ["Zo\u00eb", "Zoe\u0308"];
const UUID = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216"; // Neither a key nor a product of a test.

interface Activation {
  when: string;
  has: string | null; // The user who has the key.
  isRevoked?: true;
  sent?: { key?: string; project_id?: string }; // What is sent in the place of the key's own.
  name: string; // The user who sends the key.
  returns: boolean; // True: this user now has the key. False: nothing changes.
}
/** Calls of `activate_key`. */
const ACTIVATIONS: Activation[] = [
  { when: "nobody has used the key", has: null, name: "Amelia", returns: true },
  { when: "it is already this user's", has: "Amelia", name: "Amelia", returns: true },
  { when: "it is another user's", has: "Bessie", name: "Amelia", returns: false },
  { when: "its user's name differs by case", has: "Amelia", name: "amelia", returns: false },
  { when: "its user's name differs by a blank", has: "Amelia", name: "Amelia ", returns: false },
  { when: "its user's name has another Unicode form", has: NFC, name: NFD, returns: false },
  { when: "the name has 256 code points", has: null, name: PLANE.repeat(256), returns: true },
  { when: "it is revoked", has: null, isRevoked: true, name: "Amelia", returns: false },
  { when: "there is no such key", has: null, sent: { key: UUID }, name: "Amelia", returns: false },
  {
    when: "it is a key of another product",
    has: null,
    sent: { project_id: UUID },
    name: "Amelia",
    returns: false,
  },
];

for (const { when, has, isRevoked, sent, name, returns } of ACTIVATIONS) {
  test(`activate_key: ${when} → ${returns}`, async () => {
    await using product = await service.issueKeys([has]);
    const { project_id, keys: [key = ""] } = product;
    if (isRevoked) await product.revokeKeys();
    const values = { key, project_id, username: name, ...sent };
    assertEquals(await service.callFunction("activate_key", values), returns);
    await assertResponse(service.ask(project_id, name), returns ? ACTIVE : NOT_FOUND);
    if (has !== null) await assertResponse(service.ask(project_id, has), ACTIVE);
  });
}

test("activate_key: the key and the product in upper case → true", async () => {
  await using product = await service.issueKeys([null]);
  const { project_id, keys: [key = ""] } = product;
  const ids = { key: key.toUpperCase(), project_id: project_id.toUpperCase() };
  assertEquals(await service.callFunction("activate_key", { ...ids, username: "Amelia" }), true);
  await assertResponse(service.ask(project_id, "Amelia"), ACTIVE);
});

test("activate_key: twenty users at once with one key → true for one, who alone is active", async () => {
  await using product = await service.issueKeys([null]);
  const { project_id, keys: [key = ""] } = product;
  const users = Array.from({ length: 20 }, (_, n) => `Pilot ${n}`);
  const returned = await Promise.all(
    users.map((username) => service.callFunction("activate_key", { key, project_id, username })),
  );
  assertEquals(returned.filter((value) => value === true).length, 1);
  for (const [n, user] of users.entries()) {
    const response = returned[n] ? ACTIVE : NOT_FOUND;
    await assertResponse(service.ask(project_id, user), response);
  }
});

/** Calls a function for an order item, and returns a key, "revoked", or whether there was a key. */
const issue = (order_item: string, project_id: string) =>
  service.callFunction("issue_key", { order_item, project_id });
const revoke = (order_item: string, project_id: string) =>
  service.callFunction("revoke_key", { order_item, project_id });

/** Returns a key, which is a UUID. Fails if a function has returned anything else. */
function assertKey(returned: unknown) {
  assertMatch(String(returned), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  return returned;
}

test("issue_key and revoke_key: a payment, a refund, and each of them again → one key, which stays revoked", async () => {
  const product = crypto.randomUUID();
  const key = assertKey(await issue("1", product));
  assertEquals(await issue("1", product), key);
  assertEquals(await revoke("1", product), true);
  assertEquals(await revoke("1", product), true);
  assertEquals(await issue("1", product), "revoked");
});

test("issue_key and revoke_key: a refund is reported before its payment → there was no key, and never is one", async () => {
  const product = crypto.randomUUID();
  assertEquals(await revoke("1", product), false);
  assertEquals(await revoke("1", product), false);
  assertEquals(await issue("1", product), "revoked");
  assertEquals(await revoke("1", product), false);
});

test("issue_key and revoke_key: each order item of a product has a key of its own", async () => {
  const product = crypto.randomUUID();
  const items = ["a", "A", "a ", PLANE.repeat(256)];
  const keys = await Promise.all(items.map((item) => issue(item, product)));
  assertEquals(new Set(keys.map(assertKey)).size, items.length);
  for (const item of items) assertEquals(await revoke(item, product), true);
});

test("issue_key and revoke_key: an order item of another product is another one", async () => {
  const [product, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const key = assertKey(await issue("1", product));
  assertEquals(await revoke("1", other), false);
  assertEquals(await issue("1", product), key);
  assertEquals(await issue("1", other), "revoked");
  assertEquals(await revoke("1", product), true);
});

test("issue_key and revoke_key: twenty payments and refunds of an item at once → one row, revoked", async () => {
  const product = crypto.randomUUID();
  const payments = Array.from({ length: 20 }, () => issue("1", product));
  const refunds = Array.from({ length: 20 }, () => revoke("1", product));
  const keys = new Set(await Promise.all(payments));
  keys.delete("revoked"); // What a payment gets that comes after a refund.
  assert(keys.size <= 1, `${keys.size} keys were issued`);
  await Promise.all(refunds);
  assertEquals(await readUsers(product), [{ curr_user: null }]);
  assertEquals(await issue("1", product), "revoked");
});

/** The users of a product's keys, one for each row. */
async function readUsers(project_id: string): Promise<unknown> {
  const path = `activation_keys?select=curr_user&project_id=eq.${project_id}`;
  return JSON.parse((await service.callDataApi("GET", path)).text);
}

// `undefined` leaves the value out.
const NO_TEXT = [null, undefined, "", "a".repeat(257), "a\0b"];
const NO_UUID = [null, undefined, "", "1", "\0"];
/** What a function refuses in the place of a value. */
const WRONG_VALUES: { name: string; value: string; wrong: unknown[] }[] = [
  { name: "issue_key", value: "order_item", wrong: NO_TEXT },
  { name: "issue_key", value: "project_id", wrong: NO_UUID },
  { name: "revoke_key", value: "order_item", wrong: NO_TEXT },
  { name: "revoke_key", value: "project_id", wrong: NO_UUID },
  { name: "activate_key", value: "key", wrong: NO_UUID },
  { name: "activate_key", value: "project_id", wrong: NO_UUID },
  { name: "activate_key", value: "username", wrong: NO_TEXT },
];

for (const { name, value, wrong } of WRONG_VALUES) {
  test(`${name}: a wrong ${value} → neither a key nor a Boolean, and nothing is written`, async () => {
    await using product = await service.issueKeys([null]);
    const { project_id, keys: [key] } = product;
    const firstUse = { key, project_id, username: "Amelia" };
    const values = name === "activate_key" ? firstUse : { order_item: "1", project_id };
    for (const sent of wrong) {
      const body = { ...values, [value]: sent };
      const { status, text } = await service.callDataApi("POST", `rpc/${name}`, body);
      assert(status !== 200 || text === "null", `${JSON.stringify(sent)}: ${status} ${text}`);
      assertEquals(await readUsers(project_id), [{ curr_user: null }]);
    }
  });
}
