/** The statements of `docs/incidents.md` that undo what has happened to keys since a time. */
import { assertEquals } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { fillIn, readBlocks, readPage } from "../support/pages.ts";

const TIME = "2026-11-28 17:00+00"; // What is typed in the place of `<time>`.
const [BEFORE, AFTER] = ["2026-11-28 16:59+00", "2026-11-28 17:01+00"];

const fill = ([code = ""]: string[]) => fillIn(code, { time: TIME });
const UNDO = fill(await readBlocks("docs/incidents.md", "sql", "A secret key has leaked"));
const REPLACE = fill(await readBlocks("docs/incidents.md", "sql", "Keys have leaked"));

type Key = { item: string; created: string; activated?: string; user?: string; revoked?: string };
/** What has happened to keys before and after that time. */
const KEYS: Key[] = [
  { item: "unused", created: BEFORE },
  { item: "used", created: BEFORE, activated: BEFORE, user: "Amelia" },
  { item: "typed by hand", created: BEFORE, user: "Bessie" },
  { item: "revoked", created: BEFORE, activated: BEFORE, revoked: BEFORE },
  { item: "refunded before its payment", created: BEFORE, revoked: "-infinity" },
  { item: "used after", created: BEFORE, activated: AFTER, user: "Charles" },
  { item: "revoked after", created: BEFORE, activated: BEFORE, revoked: AFTER },
  { item: "issued after", created: AFTER },
  { item: "issued and used after", created: AFTER, activated: AFTER, user: "Dora" },
  { item: "refunded after, before its payment", created: AFTER, revoked: "-infinity" },
];

const db = await openDatabase();
Deno.test.afterAll(() => db[Symbol.asyncDispose]());
Deno.test.beforeEach(async () => {
  await db.exec("truncate activation_keys");
  for (const { item, created, activated, user, revoked } of KEYS) {
    await db.query(
      `insert into activation_keys
        (project_id, order_item, created_at, activated_at, curr_user, revoked_at)
        values (gen_random_uuid(), $1, $2, $3, $4, $5)`,
      [item, created, activated, user, revoked],
    );
  }
});

/** Reads all keys, with the words of `KEYS`. */
async function readKeys() {
  const { rows } = await db.query<Record<"id" | "item", string>>(`select order_item as item, id,
    project_id, created_at::text as created, activated_at::text as activated, curr_user as user,
    revoked_at::text as revoked from activation_keys order by item`);
  return rows;
}

Deno.test("incidents.md: after a secret key has leaked, what was issued and revoked after the time is undone, and nothing else", async () => {
  const DELETED = ["issued after", "issued and used after", "refunded after, before its payment"];
  const expected = (await readKeys())
    .filter(({ item }) => !DELETED.includes(item))
    .map((row) => row.item === "revoked after" ? { ...row, revoked: null } : row);
  for (const _time of ["once", "twice"]) {
    await db.exec(UNDO);
    assertEquals(await readKeys(), expected);
  }
});

Deno.test("incidents.md: after keys have leaked, each that had no user at the time gets a new id and no user, and no other changes", async () => {
  const REPLACED = ["issued after", "issued and used after", "unused", "used after"];
  for (const _time of ["once", "twice"]) {
    const before = await readKeys();
    const { rows: replaced } = await db.query<{ order_item: string; id: string }>(REPLACE);
    assertEquals(replaced.map(({ order_item }) => order_item).sort(), REPLACED);
    const ids = Object.fromEntries(replaced.map(({ order_item, id }) => [order_item, id]));
    const expected = before.map((row) =>
      ids[row.item] ? { ...row, id: ids[row.item], activated: null, user: null } : row
    );
    const after = await readKeys();
    assertEquals(after, expected);
    assertEquals(new Set([...before, ...after].map(({ id }) => id)).size, KEYS.length + 4);
  }
});

Deno.test("incidents.md: the statement for wrong names without a copy empties all of them, and changes nothing else", async () => {
  const page = (await readPage("docs/incidents.md")).replaceAll(/\s+/g, " ");
  const [, statement = ""] = page.match(/`(update public[^`]*)`/)!;
  const expected = (await readKeys()).map((row) => ({ ...row, activated: null, user: null }));
  await db.exec(statement);
  assertEquals(await readKeys(), expected);
});
