/** The history of the keys: who has rights in it, what is recorded, and what an undo brings back. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { MIGRATIONS, openDatabase, runFiles } from "../../tools/database.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());
// id('1') is a key, and id('a') a product: a UUID that consists of this digit. `keys` is the table.
await database.exec(`
  create function id(digit text) returns uuid return repeat(digit, 32)::uuid;
  create view keys as select id, project_id as product, curr_user as name, created_at
    from activation_keys`);

/** Runs SQL in one transaction, with a time of its own: PGlite's clock has milliseconds. */
const commit = (sql: string) => sleep(2).then(() => database.exec(sql));

/** Runs a query for a text, and returns that of each row. */
async function read(sql: string, db = database): Promise<string[]> {
  const { rows } = await db.query<Record<string, string>>(sql);
  return rows.map((row) => Object.values(row)[0]!);
}

/** Returns the times of the transactions in the history, the oldest first. */
const readTimes = () =>
  read("select distinct changed_at::text from history.activation_keys order by 1");

/** Returns for each key the digits of key and product, the name, and the year of its issue. */
const readKeys = () =>
  read(`select concat_ws(' ', left(id::text, 1), left(product::text, 1), coalesce(name, 'null'),
    extract(year from created_at)) from keys order by id`);

const [KEY_1, KEY_2] = ["1 a Amelia 2020", "2 b null 2020"];

/** Empties the table, issues these two keys, and empties the history. */
const startAnew = () =>
  commit(`delete from keys; insert into keys values (id('1'), id('a'), 'Amelia', '2020-02-02'),
    (id('2'), id('b'), null, '2020-02-02'); delete from history.activation_keys`);

/** A database whose new objects grant nothing, and which had a key before the history. */
const [first = "", ...others] = MIGRATIONS;
const older = await openDatabase("nothing", [first]);
Deno.test.afterAll(() => older[Symbol.asyncDispose]());
await older.exec(`insert into activation_keys values
  (gen_random_uuid(), gen_random_uuid(), 'x', '2020-02-02Z')`);
await runFiles(older, ...others);

for (const [defaults, db] of Object.entries({ everything: database, nothing: older })) {
  Deno.test(`rights: where new objects grant the API roles ${defaults}, only the secret key's role may call record_first_use, and nobody may do anything in the history`, async () => {
    const rightsIn = (catalogue: string, column: string, kind: string) =>
      `select ${column}name::text as name, granted.* from ${catalogue}, aclexplode(
        coalesce(${column}acl, acldefault('${kind}', ${column}owner))) as granted`;
    const granted = await read(
      `select concat_ws(' ', name, privilege_type, grantee::regrole) from (
        ${rightsIn("pg_namespace", "nsp", "n")} where nspname = 'history'
        union ${rightsIn("pg_class", "rel", "r")} where relnamespace = 'history'::regnamespace
        union ${rightsIn("pg_proc", "pro", "f")} where pronamespace = 'history'::regnamespace
        union ${rightsIn("pg_proc", "pro", "f")} where proname = 'record_first_use'
      ) as rights where grantee <> 'postgres'::regrole`,
      db,
    );
    assertEquals(granted, ["record_first_use EXECUTE service_role"]);
  });
}

const DELETE = "delete from keys";
const TRUNCATE = "truncate activation_keys";
const EMPTY = "update keys set name = null";
const RENAME = "update keys set name = 'Eve'";
const MOVE = "update keys set product = id('c')";
const ISSUE_3 = "insert into keys values (id('3'), id('a'))";
const REISSUE_1 = "insert into keys values (id('1'), id('a'), null, now())";
const CHANGE_ID = "update keys set id = id('3') where id = id('1')";
const TOKYO = "set local time zone 'Asia/Tokyo'";
const of1 = "where id = id('1')";
const AMELIA_1 = `update keys set name = 'Amelia' ${of1}`;
const [MOVE_1, EMPTY_1, DELETE_1] = [`${MOVE} ${of1}`, `${EMPTY} ${of1}`, `${DELETE} ${of1}`];
const [MOVED, EMPTIED, REUSED] = ["1 c Eve 2020", "1 a null 2020", "1 a Eve now"];

/** Transactions that leave every key as it was. */
const UNRECORDED = [
  { when: "an update changes nothing", sql: "update keys set name = name" },
  { when: "a savepoint is rolled back", sql: `begin; savepoint a; ${MOVE}; rollback to a; end` },
];

for (const { when, sql } of UNRECORDED) {
  Deno.test(`history: when ${when}, nothing is recorded`, async () => {
    await startAnew();
    await commit(sql);
    assertEquals(await readTimes(), []);
  });
}

Deno.test("history.transactions: it counts each kind of change, under the product before the change", async () => {
  await startAnew();
  await commit(`${MOVE}, name = 'Carol' ${of1}; ${RENAME} where id = id('2'); ${ISSUE_3};
    insert into keys values (id('4'), id('a')); delete from keys where id = id('4')`);
  await commit(`${EMPTY} ${of1}; delete from keys where id = id('2')`);
  await commit(`select history.undo('${(await readTimes()).at(-1)}', id('2'))`);
  const counts = await read(`select concat_ws(' ', changed_by, left(project_id::text, 1), issued,
    deleted, moved, renamed, emptied, first_used, undone)
    from history.transactions order by changed_at, project_id`);
  assertEquals(counts, [
    "postgres a 1 0 1 1 0 0 0",
    "postgres b 0 0 0 0 0 1 0",
    "postgres b 0 1 0 0 0 0 1",
    "postgres c 0 0 0 0 1 0 0",
    "postgres b 1 0 0 0 0 0 0",
  ]);
});

/**
 * What transactions do to the two keys; which transactions are undone then, the first one by default;
 * how many keys each undo has undone, and which were changed since; and the keys at the end, by
 * default those of the start.
 */
const UNDOS = [
  { when: "keys were deleted", sql: [DELETE], gives: "2 {}" },
  { when: "keys were truncated", sql: [TRUNCATE], gives: "2 {}" },
  { when: "a key was emptied", sql: [EMPTY], gives: "1 {}" },
  { when: "keys were used and renamed", sql: [RENAME], gives: "2 {}" },
  { when: "keys were moved", sql: [`${MOVE}, created_at = now()`], gives: "2 {}" },
  { when: "a key was issued", sql: [ISSUE_3], gives: "1 {}" },
  { when: "a key has two changes", sql: [`${MOVE_1}; ${EMPTY}`], gives: "1 {}" },
  { when: "a change was taken back", sql: [`${EMPTY}; ${AMELIA_1}`], gives: "0 {}" },
  { when: "keys were emptied and truncated", sql: [`${EMPTY}; ${TRUNCATE}`], gives: "2 {}" },
  { when: "an id was changed", sql: [CHANGE_ID], gives: "2 {}" },
  { when: "a change was made in Tokyo's time", sql: [`${TOKYO}; ${RENAME}`], gives: "2 {}" },
  {
    when: "of two deleted keys, one is undone",
    sql: [DELETE],
    only: 1,
    gives: "1 {}",
    end: [KEY_1],
  },
  {
    when: "a renamed key was moved since",
    sql: [RENAME, MOVE_1],
    gives: "1 {1}",
    end: [MOVED, KEY_2],
  },
  {
    when: "a renamed key was emptied since",
    sql: [RENAME, EMPTY_1],
    gives: "1 {1}",
    end: [EMPTIED, KEY_2],
  },
  {
    when: "a renamed key was revoked since",
    sql: [RENAME, DELETE_1],
    gives: "1 {1}",
    end: [KEY_2],
  },
  { when: "a deleted key was issued again", sql: [DELETE, REISSUE_1], gives: "2 {}" },
  {
    when: "a deleted key was issued again, and used",
    sql: [DELETE, REISSUE_1, RENAME],
    gives: "1 {1}",
    end: [REUSED, KEY_2],
  },
  {
    when: "of two changes, the last is undone first",
    sql: [RENAME, EMPTY],
    undo: [1, 0],
    gives: "2 {}, 2 {}",
  },
  {
    when: "of two changes, the first is undone first, and again after the last",
    sql: [RENAME, EMPTY],
    undo: [0, 1, 0],
    gives: "0 {1,2}, 2 {}, 2 {}",
  },
  { when: "an undo is repeated", sql: [RENAME], undo: [0, 0], gives: "2 {}, 0 {}" },
  { when: "undoings are undone", sql: [EMPTY], undo: [0, 1, 2], gives: "1 {}, 1 {}, 1 {}" },
  {
    when: "an undoing is undone, and the first undo is repeated",
    sql: [DELETE],
    undo: [0, 1, 0],
    gives: "2 {}, 2 {}, 0 {}",
    end: [],
  },
];

for (const { when, sql, undo = [0], only, gives, end = [KEY_1, KEY_2] } of UNDOS) {
  Deno.test(`undo: when ${when} → ${gives}`, async () => {
    await startAnew();
    for (const transaction of sql) await commit(transaction);
    const given: string[] = [];
    for (const place of undo) {
      const time = (await readTimes())[place];
      await sleep(2);
      given.push(
        ...await read(`select undone || ' ' || array(select left(key::text, 1)
          from unnest(changed_since) as key order by 1)::text
          from history.undo('${time}', ${only ? `id('${only}')` : null}) where undoing = now()`),
      );
    }
    assertEquals(given.join(", "), gives);
    const thisYear = `${new Date().getUTCFullYear()}`;
    assertEquals((await readKeys()).map((key) => key.replace(thisYear, "now")), end);
  });
}

Deno.test("undo: it updates rows in place, so that orders stay, while other writers wait", async () => {
  await startAnew();
  await commit(`create table orders (key uuid references activation_keys on delete cascade);
    insert into orders values (id('1')), (id('2')); ${RENAME}`);
  const [time] = await readTimes();
  const [, { rows: locks } = { rows: [] }] = await database.exec(`select history.undo('${time}');
    select mode from pg_locks where relation = 'activation_keys'::regclass order by mode`);
  for (const lock of ["RowShareLock", "ShareRowExclusiveLock"]) {
    assert(locks.some(({ mode }) => mode === lock), lock);
  }
  assertEquals(await read("select count(*)::text from orders"), ["2"]);
  await database.exec("drop table orders");
});

Deno.test("undo: a row that was deleted before a column was added has null there, and a later one its value", async () => {
  await startAnew();
  await commit(`${DELETE} ${of1}`);
  await database.exec("alter table activation_keys add column note text");
  await commit("update activation_keys set note = 'x'");
  await commit(DELETE);
  for (const time of (await readTimes()).reverse()) await commit(`select history.undo('${time}')`);
  const notes = await read("select coalesce(note, 'null') from activation_keys order by id");
  await database.exec("alter table activation_keys drop column note");
  assertEquals(notes, ["null", "x"]);
});

Deno.test("history: keys that are older are recorded with their own time, and no undo deletes them", async () => {
  await older.exec("select history.undo('2020-02-02Z')");
  const counts = "concat_ws(' ', changed_at at time zone 'UTC', issued, undone)";
  const lines = await read(`select ${counts} from history.transactions`, older);
  assertEquals(lines, ["2020-02-02 00:00:00 1 1"]);
  assertEquals(await read("select curr_user from activation_keys", older), ["x"]);
});

const anyId = fc.constantFrom("id('1')", "id('2')", "id('3')");
const anyUpdate = fc.constantFrom("product = id('b')", "name = null", "name = 'x'", "name = 'y'");
const anyChange = fc.oneof(
  fc.tuple(anyUpdate, anyId).map(([set, id]) => `update keys set ${set} where id = ${id}`),
  anyId.map((id) => `delete from keys where id = ${id}; update keys set id = ${id} ${of1}`),
  anyId.map((id) => `insert into activation_keys values (${id}, id('a')) on conflict do nothing`),
);
const anyHistory = fc.array(fc.array(anyChange, { minLength: 1, maxLength: 4 }), { maxLength: 6 });

Deno.test("undo: any history, undone last transaction first, ends where it began", async () => {
  const property = fc.asyncProperty(anyHistory, async (transactions) => {
    await startAnew();
    for (const changes of transactions) await commit(changes.join(";"));
    for (const time of (await readTimes()).reverse()) {
      await commit(`select history.undo('${time}')`);
    }
    assertEquals(await readKeys(), [KEY_1, KEY_2]);
  });
  await fc.assert(property, { numRuns: 50 });
});
