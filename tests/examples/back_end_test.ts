/** `examples/back-end/orders.ts`, with each `run` of its page, on the local stack. */
import { assertEquals, assertRejects } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { CREATE_TABLE, createOrders } from "../../examples/back-end/orders.ts";
import type { Row, Run } from "../../examples/back-end/orders.ts";
import { openDatabase, serveDatabase } from "../../tools/database.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { readBlocks } from "../support/pages.ts";
import * as service from "../support/service_under_test.ts";

// These tests delete all rows.
if (Deno.env.get("TEST_SERVICE")) {
  throw new Error("Unset TEST_SERVICE: this is for the local stack.");
}

type Sent = { row: unknown; url: string; passOn: (url?: string) => Promise<Response> };
/**
 * `behind` makes the functions on a Data API at which something happens when a request with this
 * method comes. If that makes a response, this is sent in the place of the Data API's.
 */
type On = { orders: Orders; run: Run; behind(method: string, happens: Happens): Orders };
type Orders = ReturnType<typeof createOrders>;
type Happens = (sent: Sent) => unknown;
const SCENES: { title: string; scene: (on: On) => Promise<unknown> }[] = [];
/**
 * Tests a scene on each database. It begins with neither an order nor a row. In the end, each order
 * that is not refunded has to have its row, and there may be no other row.
 */
const test = (title: string, scene: (on: On) => Promise<unknown>) => SCENES.push({ title, scene });

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
const ALL = "?created_at=gt.2000-01-01"; // Finds all rows.

/** Records a sale and writes it. If there is a name, the user of this name uses the key. */
async function sell(orders: Orders, number: string, name?: string) {
  const order = await orders.record(number, PRODUCT, false);
  await orders.write(number);
  if (name) assertEquals(await orders.firstUse(order!.key, PRODUCT, name), true);
  return order!;
}
async function refund(orders: Orders, number: string) {
  await orders.record(number, PRODUCT, true);
  await orders.write(number);
}
async function readRows(): Promise<Row[]> {
  const path = "activation_keys?select=id,project_id,curr_user,order_number&order=id";
  return JSON.parse((await service.callDataApi("GET", path)).text);
}
const away = () => new Response(null, { status: 503 });
/** Copies what `run` returns, because each package has kinds of lists or objects of its own. */
const plain = (orders: Iterable<object>) => Array.from(orders, (order) => ({ ...order }));

/** What is done to all rows, and how many of them then know more than the orders. */
const DAMAGES = [
  { damage: "deleted", method: "DELETE", row: undefined, ahead: 0 },
  { damage: "emptied of names", method: "PATCH", row: { curr_user: null }, ahead: 0 },
  // Those of the four unused keys.
  { damage: "given a stranger's name", method: "PATCH", row: { curr_user: "Eve" }, ahead: 4 },
  { damage: "moved", method: "PATCH", row: { project_id: OTHER_PRODUCT }, ahead: 0 },
  { damage: "given another number", method: "PATCH", row: { order_number: "x" }, ahead: 0 },
  { damage: "emptied of numbers", method: "PATCH", row: { order_number: null }, ahead: 0 },
];

for (const { damage, method, row, ahead } of DAMAGES) {
  test(`after rows were ${damage} and one was added, writing all orders repairs them`, async ({ orders, behind }) => {
    for (const n of [1, 2, 3, 4]) {
      await sell(orders, `unused ${n}`);
      await sell(orders, `used ${n}`, "Amelia");
      await sell(orders, `refunded ${n}`);
      await orders.record(`refunded ${n}`, PRODUCT, true); // The row is not deleted yet.
    }
    await service.changeKeys(method, ALL, row);
    await service.changeKeys("POST", "", { project_id: PRODUCT, curr_user: "Eve" });
    // Some projects send pages that are shorter than was asked for.
    const short = behind("GET", ({ url, passOn }) => passOn(url.replace("limit=1000", "limit=5")));
    const found = await short.writeAll();
    assertEquals([found.ahead.length, found.withoutOrder.length, found.failed], [ahead, 1, []]);
    if (ahead > 0) await orders.writeAll({ insist: true });
    await orders.deleteRow(found.withoutOrder[0]!.id);
  });
}

test("an order lives: reported in any order and at once, used by one user, refunded for good", async ({ orders, run }) => {
  const [upper, { key }] = [PRODUCT.toUpperCase(), await sell(orders, "1")];
  const use = (name: string) => orders.firstUse(key.toUpperCase(), upper, name);
  const again = await Promise.all([orders.record("1", upper, false), sell(orders, "1")]);
  assertEquals(again.map((order) => order?.key), [key, key]);
  assertEquals(await orders.record("1", OTHER_PRODUCT, true), undefined); // Another product's.
  assertEquals(await orders.firstUse(key, OTHER_PRODUCT, "Eve"), false);
  const heard = await Promise.all([use("Amelia"), use("Bessie")]);
  assertEquals(heard.toSorted(), [false, true]);
  await run("update orders set first_used = '2020-02-02'");
  assertEquals([await use("Amelia"), await use("Bessie")], heard);
  await orders.deleteRow(key.toUpperCase()); // An order has it, so it stays.
  assertEquals((await readRows())[0]!.curr_user, heard[0] ? "Amelia" : "Bessie");
  await Promise.all([sell(orders, "1"), refund(orders, "1"), refund(orders, "2")]);
  const [{ key: unused }] = [await sell(orders, "2"), await sell(orders, "1")];
  assertEquals(await orders.firstUse(unused, PRODUCT, "Eve"), false);
  assertEquals([await use("Amelia"), await use("Bessie")], [false, false]);
  const refunded = await run("select * from orders where refunded order by number");
  const years = refunded.map(({ first_used }) => first_used && new Date(first_used).getFullYear());
  assertEquals([refunded.map(({ key }) => key), years], [[key, unused], [2020, null]]);
});

for (const change of ["refunded = true", "name = 'Bessie'"]) {
  test(`a user whose order becomes ${change} during the first use hears no`, async ({ orders, run, behind }) => {
    const { key } = await sell(orders, "1");
    const slow = behind("POST", () => run(`update orders set ${change}`));
    assertEquals(await slow.firstUse(key, PRODUCT, "Amelia"), false);
  });
}

for (const call of ["write", "writeAll"]) {
  test(`a ${call} that arrives after a first use empties no name`, async ({ orders, behind }) => {
    const order = await orders.record("1", PRODUCT, false);
    const use = () => orders.firstUse(order!.key, PRODUCT, "Amelia");
    const late = behind("POST", ({ passOn }) => use().then(() => passOn()).then(away));
    await (call === "write" ? late.write("1").catch(() => {}) : late.writeAll());
  });
}

test("a sale while the rows are read is not ahead, and a write that arrives after a refund is repaired", async ({ orders, behind }) => {
  const { key } = await sell(orders, "1");
  const slow = behind("GET", () => sell(orders, "2", "Bessie"));
  assertEquals((await slow.writeAll()).ahead, []);
  await refund(orders, "1");
  await service.changeKeys("POST", "", { id: key, project_id: PRODUCT });
  await orders.writeAll();
});

test("only an unused order gets a new key, and no row of its old one is left", async ({ orders, behind }) => {
  const leaked = await sell(orders, "unused");
  await sell(orders, "used", "Amelia");
  await refund(orders, "refunded");
  const unable = behind("DELETE", away);
  for (const number of ["used", "refunded", "unknown"]) {
    assertEquals(await unable.newKey(number), undefined, number);
  }
  // While the new key is written, an older write makes the row of the old one anew.
  const row = { id: leaked.key, project_id: PRODUCT };
  const slow = behind("POST", () => service.changeKeys("POST", "", row));
  const renewed = await slow.newKey("unused");
  assertEquals(await orders.firstUse(leaked.key, PRODUCT, "Eve"), false);
  assertEquals(await orders.firstUse(renewed!.key, PRODUCT, "Bessie"), true);
});

test("a key that is used, refunded, replaced or written while another call replaces it", async ({ orders, behind }) => {
  const meanwhile = {
    used: (key: string) => orders.firstUse(key, PRODUCT, "Amelia"),
    refunded: () => refund(orders, "refunded"),
    replaced: () => orders.newKey("replaced"),
  };
  for (const [number, happens] of Object.entries(meanwhile)) {
    const { key } = await sell(orders, number);
    assertEquals(await behind("DELETE", () => happens(key)).newKey(number), undefined, number);
  }
  let renewed = 0;
  await behind("POST", () => renewed++ || orders.newKey("replaced")).write("replaced");
});

for (const method of ["DELETE", "POST"]) {
  test(`a new key whose ${method} fails leaves the old key whole or dead, and is repeated`, async ({ orders, run, behind }) => {
    const { key } = await sell(orders, "1");
    await assertRejects(() => behind(method, away).newKey("1"), Error, "status 503");
    const [order] = await run("select * from orders");
    const keys = (await readRows()).map(({ id }) => id);
    assertEquals([keys, order!.key === key], method === "DELETE" ? [[key], true] : [[], false]);
    await orders.newKey("1");
  });
}

/** How a Data API does not confirm a write, and the status of the error. */
const FAULTS: { fault: string; status: number; respond: Happens }[] = [
  { fault: "sends HTML", status: 200, respond: () => new Response("<h1>") },
  { fault: "sends another row", status: 200, respond: () => Response.json([{}]) },
  { fault: "fails", status: 503, respond: ({ row }) => Response.json([row], { status: 503 }) },
  { fault: "redirects", status: 307, respond: ({ url }) => Response.redirect(url, 307) },
  { fault: "is silent", status: 0, respond: () => sleep(2_000, away()) },
  { fault: "falls silent", status: 200, respond: () => new Response(new ReadableStream()) },
];

for (const { fault, status, respond } of FAULTS) {
  test(`if the Data API ${fault}, writing all fails with ${status}, and ends after ten`, async ({ orders, behind }) => {
    for (let n = 10; n < 22; n++) await orders.record(`${n}`, PRODUCT, false);
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 10_000 ? 1_000 : ms);
    const writing = behind("POST", respond).writeAll();
    const { failed } = await writing.finally(() => AbortSignal.timeout = timeout);
    assertEquals(failed.map((failure) => failure.status), Array(10).fill(status));
    let posts = 0; // A single failure, here of a row that is written all the same, ends nothing.
    await behind("POST", ({ passOn }) => posts++ ? undefined : passOn().then(away)).writeAll();
  });
}

test("orders that PostgreSQL refuses are told, and do not keep others from being written", async ({ orders, run, behind }) => {
  const numbers = Array.from({ length: 12 }, (_, n) => `${n + 10}`);
  for (const number of numbers) await orders.record(number, PRODUCT, false);
  await run("update orders set name = :name where number < '21'", { name: "x".repeat(257) });
  const unread = behind("GET", () => Response.json({})); // JSON, but not a list.
  await assertRejects(() => unread.writeAll(), Error, "status 200");
  const { failed } = await orders.writeAll();
  assertEquals(failed, numbers.slice(0, -1).map((number) => ({ number, status: 400 })));
  await run("delete from orders where number < '21'");
  // The database of the orders itself refuses what would be neither true nor false, and no number.
  for (const wrong of ["refunded = 'x'", "number = null"]) {
    await assertRejects(async () => await run(`update orders set ${wrong}`), Error, "");
  }
  Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
});

test("rows give back what an old copy of the orders lacks, and until then nothing is written", async ({ orders, run }) => {
  const amelias = await sell(orders, "first use", "Amelia");
  const [unused] = [await sell(orders, "sale"), await sell(orders, "used sale", "Bessie")];
  await sell(orders, "no row", "Charles");
  await refund(orders, "refunded");
  await service.changeKeys("DELETE", "?curr_user=eq.Charles");
  const rows = await readRows();
  await run("update orders set name = null, first_used = null where number = 'first use'");
  await run("delete from orders where number like '%sale'");
  assertEquals((await orders.writeAll()).ahead.length, 3);
  assertEquals(await readRows(), rows);
  // The shop repeats its reports, which make other keys. The row of the unused sale tells nothing.
  for (const number of ["sale", "used sale"]) await orders.record(number, PRODUCT, false);
  const { ahead, withoutOrder } = await orders.writeAll();
  assertEquals(ahead.map(({ order_number }) => order_number).sort(), ["first use", "used sale"]);
  assertEquals(withoutOrder.map(({ order_number }) => order_number).sort(), ["sale", "used sale"]);
  assertEquals((await orders.takeIn()).map(({ number }) => number), ["no row"]);
  assertEquals((await orders.writeAll()).ahead, []);
  assertEquals(await orders.firstUse(amelias.key, PRODUCT, "Amelia"), true);
  assertEquals(await orders.firstUse(unused.key, PRODUCT, "Dora"), true);
});

type Known = { key: string; number?: string | null; name?: string; project_id?: string };
const [A, B] = ["a0b1c2d3-8c4e-4f0a-9b7d-2e5a1c90d3f4", "b0b1c2d3-8c4e-4f0a-9b7d-2e5a1c90d3f4"];
// If it is not said, the number is "1", the key is unused, and the product is `PRODUCT`.
const [NEW, AMY, BESS] = [{ key: A }, { key: A, name: "Amy" }, { key: B, name: "Bess" }];
const [OTHER, NEW2] = [{ key: B, project_id: OTHER_PRODUCT }, { key: A, number: "2" }];
const own = (order: Known) => ({ ...order, number: order.key });
/** Orders, and rows, the oldest one first; then the orders that taking in gives. */
const TAKINGS: { when: string; orders?: Known[]; rows: Known[]; gives: Known[] }[] = [
  { when: "no number", rows: [{ ...NEW, number: null }], gives: [own(NEW)] },
  { when: "two unused rows", rows: [{ key: B }, NEW], gives: [{ key: B }] },
  { when: "a used row, and an older one", rows: [NEW, BESS], gives: [BESS] },
  { when: "two used rows", rows: [BESS, AMY], gives: [BESS, own(AMY)] },
  { when: "other product's row", rows: [NEW, OTHER], gives: [NEW, own(OTHER)] },
  { when: "other product's order", orders: [OTHER], rows: [NEW, OTHER], gives: [OTHER, own(NEW)] },
  { when: "an older key", orders: [NEW], rows: [BESS], gives: [BESS] },
  { when: "an older key with a row", orders: [NEW], rows: [BESS, NEW2], gives: [BESS, NEW2] },
  { when: "an older name", orders: [{ ...BESS, name: "x" }], rows: [BESS], gives: [BESS] },
  { when: "a wrong number", orders: [BESS], rows: [{ key: B, number: "x" }], gives: [BESS] },
  { when: "a wrong product", orders: [{ key: B }], rows: [{ ...OTHER, ...BESS }], gives: [BESS] },
];

for (const { when, orders: known = [], rows, gives } of TAKINGS) {
  test(`taking the rows in, once and twice: ${when}`, async ({ orders, run }) => {
    const whole = (order: Known) => ({ number: "1", name: null, project_id: PRODUCT, ...order });
    const insert = `insert into orders (number, name, project_id, key)
      values (:number, :name, :project_id, :key)`;
    for (const order of known) await run(insert, whole(order));
    for (const [n, taken] of rows.map(whole).entries()) {
      const { key: id, number: order_number, name: curr_user, project_id } = taken;
      const row = { id, project_id, curr_user, order_number, created_at: `2026-01-0${n + 1}` };
      await service.changeKeys("POST", "", row);
    }
    for (const _time of ["once", "twice"]) {
      assertEquals(await orders.takeIn(), []);
      const taken = await run("select number, name, project_id, key from orders order by number");
      assertEquals<unknown>(plain(taken), gives.map(whole));
    }
    const { ahead, withoutOrder } = await orders.writeAll();
    assertEquals(ahead, []);
    for (const { id } of withoutOrder) await orders.deleteRow(id);
  });
}

/** The blocks of the page, with databases of the tests. */
const [POSTGRES = "", SQLITE = ""] = await readBlocks("examples/back-end/README.md", "ts");
const closing = new AsyncDisposableStack();
Deno.test.afterAll(() => closing.disposeAsync());
const { url: database } = closing.use(await serveDatabase(closing.use(await openDatabase())));
const BLOCKS = {
  // With one connection, because PGlite would take the statements of several for those of one.
  PostgreSQL: POSTGRES.replace(/"postgres:.*"/, `"${database}&max=1"`),
  SQLite: SQLITE.replace('"orders.sqlite"', '":memory:"'),
};

for (const [name, block] of Object.entries(BLOCKS)) {
  const { run } = await import(`data:application/typescript,${encodeURIComponent(block)}`);
  await run(CREATE_TABLE);
  for (const { title, scene } of SCENES) {
    Deno.test(`back end on ${name}: ${title}`, async () => {
      await run("delete from orders");
      await service.changeKeys("DELETE", ALL);
      await using servers = new AsyncDisposableStack();
      const { API_URL, SECRET_KEY } = service.settings;
      const behind = (method: string, happens: Happens) => {
        const server = servers.use(serveOnLoopback(async (request) => {
          const url = request.url.replace(/http:..[^/]*/, API_URL);
          const body = await request.text();
          const init = { method: request.method, headers: request.headers, body: body || null };
          const passOn = (to = url) => fetch(to, init);
          if (request.method !== method) return passOn();
          const response = await happens({ row: JSON.parse(body || "null"), url, passOn });
          return response instanceof Response ? response : passOn();
        }));
        return createOrders(run, server.url, SECRET_KEY);
      };
      await scene({ orders: createOrders(run, API_URL, SECRET_KEY), run, behind });
      const living = await run(`select key as id, project_id, name as curr_user,
        number as order_number from orders where not refunded order by key`);
      assertEquals<unknown>(await readRows(), plain(living));
    });
  }
}
