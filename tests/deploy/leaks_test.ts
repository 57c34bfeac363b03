/** The statements of `docs/incidents.md` that undo what has happened to keys since a time. */
import { assertEquals } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { fillIn, readBlocks, readPage } from "../support/pages.ts";

const TIME = "2026-11-28 17:00+00"; // What is typed in the place of `<time>`.
const [BEFORE, AFTER] = ["2026-11-28 16:59+00", "2026-11-28 17:01+00"];

type History = { created: string; activated?: string; user?: string; revoked?: string };
/** What the statements of each section change of a row: nothing by default. */
type Changes = { secretLeaked?: string; keysLeaked?: string };
const TAKEN = "new id, no activated, no user"; // From its user.
const KEYS: ({ item: string } & History & Changes)[] = [
  { item: "unused", created: BEFORE, keysLeaked: "new id" },
  { item: "used", created: BEFORE, activated: BEFORE, user: "Amelia" },
  { item: "typed by hand", created: BEFORE, user: "Bessie" },
  { item: "revoked", created: BEFORE, activated: BEFORE, revoked: BEFORE },
  { item: "refunded unpaid", created: BEFORE, revoked: "-infinity" },
  { item: "used later", created: BEFORE, activated: AFTER, user: "Charles", keysLeaked: TAKEN },
  { item: "revoked later", created: BEFORE, revoked: AFTER, secretLeaked: "no revoked" },
  { item: "issued later", created: AFTER, secretLeaked: "deleted", keysLeaked: "new id" },
  { item: "refunded unpaid later", created: AFTER, revoked: "-infinity", secretLeaked: "deleted" },
];

const db = await openDatabase();
Deno.test.afterAll(() => db[Symbol.asyncDispose]());
Deno.test.beforeEach(async () => {
  await db.exec("truncate activation_keys");
  for (const { item, created, activated, user, revoked } of KEYS) {
    const sql = `insert into activation_keys (project_id, order_item, created_at, activated_at,
      curr_user, revoked_at) values (gen_random_uuid(), $1, $2, $3, $4, $5)`;
    await db.query(sql, [item, created, activated, user, revoked]);
  }
});

type Row = Record<string, string | null>;
async function readRows() {
  const { rows } = await db.query<Row>(`select order_item as item, id, project_id,
    created_at::text as created, activated_at::text as activated, curr_user as user,
    revoked_at::text as revoked from activation_keys`);
  return rows;
}

/** Says which values of a row have changed. */
function describe(before: Row, after?: Row) {
  if (!after) return "deleted";
  const changed = Object.keys(before).filter((name) => before[name] !== after[name]);
  return changed.map((name) => `${after[name] === null ? "no" : "new"} ${name}`).join(", ");
}

for (const section of ["secretLeaked", "keysLeaked"] as const) {
  const heading = section === "keysLeaked" ? "Keys have leaked" : "A secret key has leaked";
  Deno.test(`incidents.md: ${heading} → the statements, run once or twice, undo what came after the time, and return each new key`, async () => {
    const [block = ""] = await readBlocks("docs/incidents.md", "sql", heading);
    const statements = fillIn(block, { time: TIME });
    const before = await readRows();
    for (const _run of ["once", "twice"]) {
      const results = await db.exec(statements);
      const after = await readRows();
      for (const { item, [section]: change = "" } of KEYS) {
        const [was, is] = [before, after].map((rows) => rows.find((row) => row.item === item));
        assertEquals(describe(was!, is), change, item);
      }
      const returned = results.at(-1)!.rows.map(({ id }) => id);
      const ids = new Set(before.map(({ id }) => id));
      assertEquals(new Set(returned), new Set(after.map(({ id }) => id)).difference(ids));
    }
  });
}

Deno.test("incidents.md: the statement for wrong names without a copy empties all of them, and changes nothing else", async () => {
  const page = (await readPage("docs/incidents.md")).replaceAll(/\s+/g, " ");
  const [, statement = ""] = page.match(/`(update public[^`]*)`/)!;
  const expected = (await readRows()).map((row) => ({ ...row, activated: null, user: null }));
  await db.exec(statement);
  assertEquals(new Set(await readRows()), new Set(expected));
});
