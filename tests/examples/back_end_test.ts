/**
 * The SQL of `examples/back-end/README.md`, on PostgreSQL and on SQLite, and its requests, run as a
 * back end that follows the page.
 */
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "../../tools/database.ts";
import { fillIn, readBlocks, sendRequest } from "../support/pages.ts";
import * as service from "../support/service_under_test.ts";

const PAGE = "examples/back-end/README.md";
const [CREATE = "", REPORT = "", NEW_KEY = "", FIRST_USE = ""] = await readBlocks(PAGE, "sql");
const [HEADERS = "", POST = "", DELETE = "", GET = ""] = await readBlocks(PAGE, "http");
const [, POSTED_ROW = ""] = POST.split("\n\n");

type Order = { number: string; project_id: string; key: string; name: string; refunded: unknown };
type Row = { id: string; project_id: string; curr_user: string | null; created_at: string };

const postgres = await openDatabase();
Deno.test.afterAll(() => postgres.close());
const sqlite = new DatabaseSync(":memory:");
for (const database of [postgres, sqlite]) await database.exec(CREATE);

/** Runs a statement with bound values. (SQLite has no Booleans.) Returns how many rows changed. */
async function run(sql: string, values: Record<string, unknown> = {}) {
  const bound: unknown[] = [];
  const text = sql.replaceAll(/:(\w+)/g, (_, name) => `$${bound.push(values[name])}`);
  const { affectedRows } = await postgres.query(text, bound);
  const inSqlite = JSON.stringify(values).replace(/:true\b/, ":1").replace(/:false\b/, ":0");
  const { changes } = sqlite.prepare(sql).run(JSON.parse(inSqlite));
  if (/^(insert|update)/.test(sql)) assertEquals(Number(changes), affectedRows);
  return affectedRows;
}

async function readAll() {
  const sql = "select number, project_id, key, name, refunded from orders order by key";
  const { rows } = await postgres.query<Order>(sql);
  const inSqlite = rows.map((order) => ({ ...order, refunded: Number(order.refunded) }));
  assertEquals<unknown>(sqlite.prepare(sql).all(), inSqlite);
  return rows;
}
const read = async (numberOrKey: string) =>
  (await readAll()).find(({ number, key }) => [number, key].includes(numberOrKey))!;

/** Sends a request of the page. Returns the list of the response, or throws the response. */
async function send(request: string, values: Record<string, string> = {}): Promise<Row[]> {
  const [first, ...others] = request.split("\n");
  const filled = { ...values, "secret key": service.settings.SECRET_KEY };
  const text = fillIn([first, HEADERS, ...others].join("\n"), filled, service.settings.API_URL);
  const response = await sendRequest(text);
  if (!/^20[01] \[/.test(response)) throw new Error(response);
  return JSON.parse(response.slice(4));
}

/** Writes orders, all refunded or all not. An order without a name gets `blank`, if it is null. */
async function write(orders: Order[], blank?: null): Promise<void> {
  const keys = orders.map(({ key }) => key);
  const rows = orders.map(({ key, project_id, name }) => ({
    ...JSON.parse(fillIn(POSTED_ROW, { key, project_id })),
    curr_user: name ?? blank, // What is undefined is not sent.
  }));
  const post = POST.replace(POSTED_ROW, () => JSON.stringify(rows));
  if (orders[0]!.refunded) await send(DELETE.replace("eq.<key>", `in.(${keys})`));
  else assertEquals<unknown>(await send(post), keys.map((id) => ({ id })));
  for (const order of orders) {
    const present = await read(order.number);
    if (JSON.stringify(present) !== JSON.stringify(order)) await write([present]);
  }
}

/** Writes all orders. Returns the numbers of those that were refused. */
async function writeAll(blank?: null) {
  const refused: string[] = [];
  const kind = ({ refunded, name }: Order) => `${refunded} ${name === null}`;
  for (const list of Map.groupBy(await readAll(), kind).values()) {
    await write(list, blank).catch(async (error) => {
      if (!/^40[09] /.test(error.message)) throw error;
      for (const order of list) await write([order], blank).catch(() => refused.push(order.number));
    });
  }
  return refused;
}

/** Reads the rows of the table, page by page. Returns those of the test's product. */
async function readRows() {
  const rows: Row[] = [];
  let page = await send(GET, { key: "00000000-0000-0000-0000-000000000000" });
  for (; page.length > 0; page = await send(GET, { key: page.at(-1)!.id })) rows.push(...page);
  return rows.filter(({ project_id }) => project_id === product);
}

/** Runs a statement about an order, and writes the order. Undefined if none was changed. */
async function change(sql: string, order: string, values: Record<string, unknown>) {
  if (await run(sql, values) === 0) return;
  await write([await read(order)]);
  return await read(order);
}
const report = async (number: string, refunded = false, project_id = product) =>
  await change(REPORT, number, { number, project_id, key: crypto.randomUUID(), refunded });
const renew = (number: string) => change(NEW_KEY, number, { number, key: crypto.randomUUID() });
async function firstUse(key: string | undefined, name: string, project_id = product) {
  const order = await change(FIRST_USE, key!, { key, project_id, name });
  return order && !order.refunded && order.name === name ? 200 : 409;
}

let product: string = crypto.randomUUID(); // Each test has another one.
// Whatever a test does, the rows follow the orders in the end.
Deno.test.afterEach(async () => {
  const rows = (await readRows()).map(({ id, curr_user }) => [id, curr_user]);
  const orders = (await readAll()).filter(({ refunded }) => !refunded);
  product = crypto.randomUUID();
  await run("delete from orders");
  assertEquals(rows, orders.map(({ key, name }) => [key, name]));
});

/** What is done to all rows of the product. */
const DAMAGES = [
  { damage: "deleted", method: "DELETE", row: undefined },
  { damage: "emptied of names", method: "PATCH", row: { curr_user: null } },
  { damage: "given a stranger's name", method: "PATCH", row: { curr_user: "Eve" } },
  { damage: "moved to another product", method: "PATCH", row: { project_id: crypto.randomUUID() } },
];

for (const { damage, method, row } of DAMAGES) {
  Deno.test(`back end: after all rows were ${damage}, writing all orders repairs them`, async () => {
    for (let n = 0; n < 30; n++) {
      const [key, name] = [crypto.randomUUID(), n % 3 === 1 ? "Amelia" : "Bessie"];
      await run(REPORT, { number: `${n}`, project_id: product, key, refunded: false });
      if (n % 3 > 0) await run(FIRST_USE, { key, project_id: product, name });
    }
    assertEquals(await writeAll(), []);
    await run("update orders set refunded = true where name = 'Bessie'");
    await service.changeKeys(method, `?project_id=eq.${product}`, row);
    await service.changeKeys("POST", "", { project_id: product, curr_user: "Eve" });
    assertEquals(await writeAll(null), []);
    for (const { id } of await readRows()) if (!await read(id)) await send(DELETE, { key: id });
  });
}

Deno.test("back end: a payment twice at once makes one key, which another product's refund leaves alone", async () => {
  const [first, second] = await Promise.all([report("1"), report("1")]);
  const other = await report("1", true, crypto.randomUUID());
  assertEquals([first!.key, other, await firstUse(first!.key, "x")], [second!.key, undefined, 200]);
});

Deno.test("back end: a refund before, during or after the payment leaves no row", async () => {
  const before = [await report("1", true), await report("1")];
  const during = await Promise.all([report("2", true), report("2")]);
  const after = [await report("3"), await report("3", true)];
  for (const [first, second] of [before, during, after]) {
    assertEquals([first!.key, await firstUse(first!.key, "Amelia")], [second!.key, 409]);
  }
  assertEquals<unknown>((await readAll()).map(({ name }) => name), [null, null, null]);
});

Deno.test("back end: of two users who send a key at once, one gets 200, also again, and `first_used` stays", async () => {
  const key = (await report("1"))?.key;
  const use = (product?: string) =>
    Promise.all(["Amelia", "Bessie"].map((name) => firstUse(key, name, product)));
  const statuses = await use();
  assertEquals(statuses.toSorted(), [200, 409]);
  const age = "update orders set first_used = '2020-02-02' where first_used > '2020-02-02'";
  assertEquals([await run(age), await use(), await run(age)], [1, statuses, 0]);
  assertEquals([await firstUse(key, "Eve"), ...await use(crypto.randomUUID())], [409, 409, 409]);
});

Deno.test("back end: when PostgreSQL refuses one row of a list, the others are written", async () => {
  for (const number of ["1", "2", "3"]) await firstUse((await report(number))?.key, "Amelia");
  await run("update orders set name = :name where number = '2'", { name: "x".repeat(257) });
  await service.changeKeys("DELETE", `?project_id=eq.${product}`);
  assertEquals(await writeAll(), ["2"]);
  await run("update orders set refunded = true where number = '2'");
});

Deno.test("back end: after a leak, only an unused order gets a new key, and its refund finds it", async () => {
  const [used, leaked] = [await report("1"), await report("2"), await report("3", true)];
  await firstUse(used!.key, "Amelia");
  assertEquals([await renew("1"), await renew("3")], [undefined, undefined]);
  const renewed = await renew("2");
  await send(DELETE, { key: leaked!.key });
  assertEquals(await firstUse(leaked!.key, "Eve"), 409);
  assertEquals((await report("2", true))?.key, renewed!.key);
});

Deno.test("back end: after an old copy, taking the rows in brings keys and names back", async () => {
  const [used] = [await report("1"), await report("2")];
  await run("begin");
  const sold = await report("3");
  await firstUse(used!.key, "Amelia");
  await firstUse(sold!.key, "Bessie");
  await run("rollback"); // The orders are as they were, and the rows are not.
  // A row without an order becomes one, and the name of any other row goes into its order.
  const takeIn = `insert into orders (number, project_id, key, name)
    values (:id, :project_id, :id, :curr_user)
    on conflict (key) do update set name = coalesce(excluded.name, orders.name)`;
  for (const { created_at: _, ...row } of await readRows()) await run(takeIn, row);
  await run("update orders set number = '3' where number = :key", { key: sold!.key });
  assertEquals([await firstUse(used!.key, "Amelia"), (await report("3"))?.key], [200, sold!.key]);
  assertEquals(await writeAll(), []);
});
