/**
 * The orders of a back end, and how the rows of the table `activation_keys` follow them. Copy this
 * file. README.md, beside it, says what has to stand around it. A row is always written from its
 * order, as the order is then. So a write that fails or comes late does no lasting harm.
 */

/** An order: one sold key of one product. */
export interface Order {
  number: string; // Made of the shop's, and another one for each key. It never changes.
  project_id: string; // The UUID of the product, in lower case. It never changes.
  key: string; // A random UUID, in lower case, which the customer gets.
  name: string | null; // The user's, as the add-on has sent it. Null until the first use.
  first_used: Date | string | null; // Null until the first use, or if nobody knows when that was.
  refunded: boolean | number; // SQLite has no Booleans, and returns 0 or 1.
}

/** A row of the table `activation_keys`, as the Data API returns it. Its `id` is the key. */
export interface Row {
  id: string;
  project_id: string;
  curr_user: string | null;
  order_number: string | null;
  created_at: string;
}

type Values = Record<string, string | null>; // No Booleans, because SQLite binds none.
/**
 * Runs one statement on the database of the orders: binds each value in the place of its `:name`,
 * commits, and returns the rows.
 */
export type Run = (statement: string, values?: Values) => Promise<Order[]> | Order[];

/** Is thrown when the Data API has not confirmed what it was asked for. */
export class DataApiError extends Error {
  readonly status: number; // The response's, also if it is 200. 0 if there was no response.
  constructor(method: string, status: number) {
    super(`The Data API has not confirmed a ${method}: status ${status} (0 is no response).`);
    this.status = status;
  }
}

/** Makes the table of the orders, in PostgreSQL or SQLite. A back end runs it at each start. */
export const CREATE_TABLE = `create table if not exists orders (
  number text not null primary key, project_id uuid not null, key uuid not null unique,
  name text, first_used timestamptz,
  refunded boolean not null default false check (refunded in (false, true))
)`;

const READ = "select * from orders where number = :number";
const READ_ALL = "select * from orders";

// A refund that was reported before its payment stays, and a number never changes its product.
// `:refunded` is a text, because the package `postgres` reads the number 1 as false.
const RECORD = `insert into orders (number, project_id, key, refunded)
  values (:number, :project_id, :key, :refunded = 'true')
  on conflict (number) do update set refunded = orders.refunded or excluded.refunded
  where orders.project_id = excluded.project_id returning *`;

// One statement decides, so that of two users who send a key at once only one gets it.
const USE = `update orders set name = :name, first_used = coalesce(first_used, current_timestamp)
  where key = :key and project_id = :project_id and not refunded
  and coalesce(name, :name) = :name returning *`;

// Finds the order by its old key, so that only one of two calls at once changes it.
const RENEW = `update orders set key = :key
  where key = :old_key and name is null and not refunded returning *`;

const TAKE_IN = `insert into orders (number, project_id, key, name)
  values (:number, :project_id, :key, :name)
  on conflict (number) do update set key = excluded.key, name = coalesce(excluded.name, orders.name)
  where orders.project_id = excluded.project_id returning *`;

/**
 * Makes the functions of a back end. They throw what `run` throws, and `DataApiError`.
 *
 * @param url The address of the Supabase project that has the table `activation_keys`.
 * @param secretKey A secret key of this project.
 */
export function createOrders(run: Run, url: string, secretKey: string) {
  const table = new URL("/rest/v1/activation_keys", url);
  /**
   * Records a payment or a refund, in any order and as often as the shop reports it. `write` comes
   * next. Returns the order, or undefined if another product has the number: nothing has changed.
   */
  async function record(number: string, project_id: string, refunded: boolean) {
    const order = { number, project_id: project_id.toLowerCase(), key: crypto.randomUUID() };
    return (await run(RECORD, { ...order, refunded: `${refunded}` }))[0];
  }

  /** Records a first use. Returns whether the key is this user's, also when it is asked again. */
  async function firstUse(key: string, project_id: string, name: string) {
    const ids = { key: key.toLowerCase(), project_id: project_id.toLowerCase() };
    const [used] = await run(USE, { ...ids, name });
    // Meanwhile, a refund may come, or the operator may type another name.
    const order = used && await write(used.number);
    return order?.name === name && !order.refunded;
  }

  /**
   * Gives an unused order a new key, because the old one has leaked. Returns the order. Returns
   * undefined if it is unknown, used, refunded, or renewed by another call. If this throws, repeat.
   */
  async function newKey(number: string) {
    const [order] = await run(READ, { number });
    if (!order || order.refunded || order.name !== null) return undefined;
    await sendDelete(order.key); // First: if this ends early, the order still has this key.
    const [changed] = await run(RENEW, { key: crypto.randomUUID(), old_key: order.key });
    // Whether or not it has changed: somebody may have used the key whose row was deleted.
    const written = await write(number);
    if (!changed) return undefined;
    await sendDelete(order.key); // A `write` at the same time may have made this row anew.
    return written;
  }

  /** Writes an order's row, or deletes it if refunded. Returns the order, or undefined if none. */
  const write = (number: string) => writeRow(number, false);

  /** `write`. With `emptiesName`, it also empties the name in the row of an unused order. */
  async function writeRow(number: string, emptiesName: boolean): Promise<Order | undefined> {
    const [order] = await run(READ, { number });
    if (!order) return undefined;
    const { key, project_id, name, refunded } = order;
    // What is undefined is not sent. A null that arrives late could empty a user's name.
    const noName = emptiesName ? null : undefined;
    const row = { id: key, project_id, order_number: number, curr_user: name ?? noName };
    if (refunded) await sendDelete(key);
    else await send("POST", "select=id", row);
    const [now] = await run(READ, { number });
    if (JSON.stringify(now) === JSON.stringify(order)) return order;
    // It has changed meanwhile. If it were not written again, the older of two writes could stay.
    if (now && now.key !== key) await deleteRow(key);
    return writeRow(number, emptiesName);
  }

  /**
   * Writes the orders whose rows differ. Ends early if ten fail at once. Returns rows `ahead`,
   * rows `withoutOrder`, and orders that `failed`, with the status. A row is ahead if it knows more
   * than the orders. That does not happen in normal work: either the orders are old, or the row is
   * wrong. So nothing is written then, unless `insist` says that the orders are right.
   */
  async function writeAll({ insist = false } = {}) {
    const rows = await readRows(); // First. Otherwise, orders that change meanwhile would look old.
    const orders = await run(READ_ALL);
    const rowOf = new Map(rows.map((row) => [row.id, row]));
    const orderOf = new Map(orders.map((order) => [order.key, order]));
    const numbers = new Set(orders.map(({ number }) => number));
    const isAhead = ({ id, curr_user, order_number }: Row) => {
      const order = orderOf.get(id);
      if (order) return !order.refunded && order.name === null && curr_user !== null;
      return order_number !== null && (!numbers.has(order_number) || curr_user !== null);
    };
    const ahead = rows.filter(isAhead);
    const withoutOrder = rows.filter(({ id }) => !orderOf.has(id));
    const failed: { number: string; status: number }[] = [];
    if (ahead.length > 0 && !insist) return { ahead, failed, withoutOrder };
    const different = orders.filter(({ number, project_id, key, name, refunded }) => {
      const row = rowOf.get(key);
      if (refunded) return row !== undefined;
      return row?.project_id !== project_id || row.curr_user !== name ||
        row.order_number !== number;
    });
    const tryToWrite = async ({ number, key }: Order) => {
      const row = rowOf.get(key);
      try {
        await writeRow(number, row !== undefined && isAhead(row));
        return [];
      } catch (error) {
        if (error instanceof DataApiError) return [{ number, status: error.status }];
        throw error;
      }
    };
    for (let at = 0; at < different.length; at += 10) {
      const failures = (await Promise.all(different.slice(at, at + 10).map(tryToWrite))).flat();
      failed.push(...failures);
      // A 400 is about one order alone. If ten fail at once without one, the Data API is away.
      if (failures.length === 10 && failures.every(({ status }) => status !== 400)) break;
    }
    return { ahead, failed, withoutOrder };
  }

  /**
   * Takes from the rows what the orders have lost. Call this only while the back end is stopped and
   * the rows are right. Returns the orders, not refunded, that have no row.
   */
  async function takeIn() {
    const rows = await readRows();
    // A number goes to the first of its rows: a used one, or the oldest. Late writes are younger.
    const rank = (row: Row) => `${row.curr_user === null} ${row.created_at} ${row.id}`;
    rows.sort((a, b) => rank(a) < rank(b) ? -1 : 1);
    const orderOf = new Map((await run(READ_ALL)).map((order) => [order.key, order]));
    const taken = new Map<string, string>(); // The products of the numbers that rows have taken.
    for (const { id: key, project_id, curr_user: name, order_number } of rows) {
      const owner = orderOf.get(key);
      const isKnown = owner && !taken.has(owner.number); // Then the row only gives the name.
      const place = isKnown ? owner : { number: order_number ?? key, project_id };
      // An unused key whose number another row has taken is a key that was replaced.
      if (name === null && taken.get(place.number) === place.project_id) continue;
      // If the number is taken, or another product's, the key becomes the number: nobody is locked.
      for (const number of [place.number, key]) {
        if (taken.has(number)) continue;
        const [order] = await run(TAKE_IN, { number, project_id: place.project_id, key, name });
        if (!order) continue;
        taken.set(number, order.project_id);
        break;
      }
    }
    const ids = new Set(rows.map(({ id }) => id));
    return (await run(READ_ALL)).filter(({ key, refunded }) => !refunded && !ids.has(key));
  }

  /** Deletes a row that no order has. (If an order has the key, its row is written instead.) */
  async function deleteRow(key: string) {
    const [order] = await run("select * from orders where key = :key", { key: key.toLowerCase() });
    await (order ? write(order.number) : sendDelete(key));
  }

  const sendDelete = (key: string) => send("DELETE", `id=eq.${encodeURIComponent(key)}&select=id`);

  async function readRows() {
    const query = "select=id,project_id,curr_user,order_number,created_at&order=id&limit=1000";
    const rows: Row[] = [];
    for (let page = await send("GET", query); page.length > 0;) { // Some projects send under 1,000.
      rows.push(...page);
      page = await send("GET", `${query}&id=gt.${page.at(-1)!.id}`);
    }
    return rows;
  }

  /** Sends a request. Only 200 or 201 with a list counts, and a posted row has to be in it. */
  async function send(method: string, query: string, row?: { id: string }): Promise<Row[]> {
    let status = 0;
    try {
      const headers = {
        "apikey": secretKey,
        "Accept-Profile": "public", // Otherwise, PostgREST takes the first exposed schema.
        "Content-Profile": "public",
        "Content-Type": "application/json",
        "Prefer": "resolution=merge-duplicates,return=representation",
      };
      const body = JSON.stringify(row); // Undefined without a row.
      const signal = AbortSignal.timeout(10_000); // For the whole response, with its body.
      // A redirect is not followed, because it would take the secret key to another server.
      const init = { method, headers, body, signal, redirect: "manual" } as const;
      const response = await fetch(`${table}?${query}`, init);
      status = response.status;
      const list = await response.json();
      const isConfirmed = Array.isArray(list) && (!row || list.some(({ id }) => id === row.id));
      if (isConfirmed && (status === 200 || status === 201)) return list;
    } catch { // No response, or one that is cut, late, or no JSON. The error could quote a key.
    }
    throw new DataApiError(method, status);
  }

  return { record, firstUse, newKey, write, writeAll, takeIn, deleteRow };
}
