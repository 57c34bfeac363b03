/** The three functions of the database that write keys, and what each API key may do. */
import { assert, assertEquals } from "@std/assert";
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
const UUID = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216"; // No test's key has this id or this product.

type Given = { has?: string; isRevoked?: true; sent?: { key?: string; project_id?: string } };
/**
 * Calls of `activate_key`: which user has the key, what is sent in the place of the key's own
 * values, and the name that is sent, which is Amelia by default. If the call returns true, this
 * user has the key. Otherwise, nothing has changed.
 */
const ACTIVATIONS: ({ when: string; name?: string; returns: boolean } & Given)[] = [
  { when: "nobody has used the key", returns: true },
  { when: "it is already this user's", has: "Amelia", returns: true },
  { when: "it is another user's", has: "Bessie", returns: false },
  { when: "its user's name differs by case", has: "Amelia", name: "amelia", returns: false },
  { when: "its user's name differs by a blank", has: "Amelia", name: "Amelia ", returns: false },
  { when: "its user's name has another Unicode form", has: NFC, name: NFD, returns: false },
  { when: "the name has 256 code points", name: PLANE.repeat(256), returns: true },
  { when: "it is revoked", isRevoked: true, returns: false },
  { when: "there is no such key", sent: { key: UUID }, returns: false },
  { when: "it is a key of another product", sent: { project_id: UUID }, returns: false },
];

for (const { when, has, isRevoked, sent, name = "Amelia", returns } of ACTIVATIONS) {
  test(`activate_key: ${when} → ${returns}`, async () => {
    await using product = await service.issueKeys([has ?? null]);
    const { project_id, keys: [key = ""] } = product;
    if (isRevoked) await product.revokeKeys();
    const values = { key, project_id, username: name, ...sent };
    assertEquals(await service.callFunction("activate_key", values), returns);
    await assertResponse(service.ask(project_id, name), returns ? ACTIVE : NOT_FOUND);
    if (has) await assertResponse(service.ask(project_id, has), ACTIVE);
  });
}

test("activate_key: twenty users at once, with a key in upper case → true for one, who alone is active", async () => {
  await using product = await service.issueKeys([null]);
  const { project_id, keys: [key = ""] } = product;
  const ids = { key: key.toUpperCase(), project_id: project_id.toUpperCase() };
  const calls = Array.from({ length: 20 }, async (_, n) => {
    const username = `Pilot ${n}`;
    const returned = await service.callFunction("activate_key", { ...ids, username });
    return { username, returned };
  });
  const users = await Promise.all(calls);
  assertEquals(users.filter(({ returned }) => returned === true).length, 1);
  for (const { username, returned } of users) {
    await assertResponse(service.ask(project_id, username), returned ? ACTIVE : NOT_FOUND);
  }
});

/** Calls a function for an order item, and returns a key, "revoked", or whether there was a key. */
const issue = (order_item: string, project_id: string) =>
  service.callFunction("issue_key", { order_item, project_id });
const revoke = (order_item: string, project_id: string) =>
  service.callFunction("revoke_key", { order_item, project_id });

test("issue_key and revoke_key: a payment, a refund, and each of them again → one key, which stays revoked", async () => {
  const product = crypto.randomUUID();
  const key = await issue("1", product);
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
  assertEquals(new Set(keys).size, items.length);
  for (const item of items) assertEquals(await revoke(item, product), true);
});

test("issue_key and revoke_key: an order item of another product is another one", async () => {
  const [product, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const key = await issue("1", product);
  assertEquals(await revoke("1", other), false);
  assertEquals(await issue("1", product), key);
  assertEquals(await issue("1", other), "revoked");
  assertEquals(await revoke("1", product), true);
});

// The local stack's PostgreSQL has one connection, so only PostgREST makes these calls at once.
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
      const isRejected = 400 <= status && status < 500;
      assert(isRejected || text === "null", `${JSON.stringify(sent)}: ${status} ${text}`);
      assertEquals(await readUsers(project_id), [{ curr_user: null }]);
    }
  });
}

const ROWS = `activation_keys?project_id=eq.${UUID}`;
const ROW = { project_id: UUID, order_item: "1", curr_user: "Amelia" };
const ITEM = { order_item: "1", project_id: UUID };
const FIRST_USE = { key: UUID, project_id: UUID, username: "Amelia" };

type Attempt = { to: string; method: string; path: string; json?: unknown };
/** What nobody may do, not even with the secret key. */
const FORBIDDEN: Attempt[] = [
  { to: "read whole rows", method: "GET", path: ROWS },
  ...["id", "order_item", "created_at", "activated_at", "revoked_at"]
    .map((column) => ({ to: `read ${column}`, method: "GET", path: `${ROWS}&select=${column}` })),
  { to: "insert a row", method: "POST", path: "activation_keys", json: ROW },
  { to: "change a row", method: "PATCH", path: ROWS, json: { curr_user: "Amelia" } },
  { to: "delete a row", method: "DELETE", path: ROWS },
];
/** What the secret key may do, and nobody else. */
const RESTRICTED: Attempt[] = [
  { to: "read products", method: "GET", path: `${ROWS}&select=project_id` },
  { to: "read users", method: "GET", path: `${ROWS}&select=curr_user` },
  { to: "issue a key", method: "POST", path: "rpc/issue_key", json: ITEM },
  { to: "activate a key", method: "POST", path: "rpc/activate_key", json: FIRST_USE },
  { to: "revoke a key", method: "POST", path: "rpc/revoke_key", json: ITEM },
];

const { PUBLISHABLE_KEY, SECRET_KEY } = service.settings;
const CALLERS = [
  { who: "the secret key", apikey: SECRET_KEY, attempts: FORBIDDEN },
  { who: "no API key", apikey: "", attempts: [...FORBIDDEN, ...RESTRICTED] },
  { who: "the publishable key", apikey: PUBLISHABLE_KEY, attempts: [...FORBIDDEN, ...RESTRICTED] },
];

for (const { who, apikey, attempts } of CALLERS) {
  // For a hosted project, the publishable key may not be given.
  if (who === "the publishable key" && !PUBLISHABLE_KEY) continue;
  for (const { to, method, path, json } of attempts) {
    test(`rights: ${who} does not allow a caller to ${to}`, async () => {
      const { status, text } = await service.callDataApi(method, path, json, apikey);
      assert(status === 401 || status === 403, `${status} ${text}`); // Some services send 401.
    });
  }
}
