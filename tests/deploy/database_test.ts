/** The table on an operator's database: `db push`, and what stands on the operators' pages. */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { addRoles, MIGRATIONS, openDatabase } from "../../tools/database.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readCommand, runCommand } from "../support/operators.ts";
import { fillIn, readBlocks, readPage } from "../support/pages.ts";

/** Serves a PGlite to other processes, at a `postgres://` address. Disposing of it ends both. */
async function serveDatabase(db: PGlite) {
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 10 });
  await server.start();
  const url = `postgres://postgres@${server.getServerConn()}/postgres?sslmode=disable`;
  return { url, [Symbol.asyncDispose]: () => server.stop().then(() => db.close()) };
}

/** Runs a query, and returns the first column of its rows, as texts. */
async function read(db: PGlite, sql: string): Promise<string[]> {
  const { rows } = await db.query<Record<string, unknown>>(sql);
  return rows.map((row) => `${Object.values(row)[0]}`);
}
const readKeys = (db: PGlite) => read(db, "select t::text from activation_keys t order by id");

/** The rights on the table and on `record_first_use`, and whether row level security is on. */
const readRights = (db: PGlite) =>
  read(
    db,
    `select concat_ws(' ', relacl, relrowsecurity, proacl, has_schema_privilege('service_role',
      'public', 'usage')) from pg_class, pg_proc where proname = 'record_first_use'
      and relname = 'activation_keys' and relnamespace = 'public'::regnamespace`,
  );
// Insert (a), select (r), update (w), delete (d) and execute (X) for the role of the secret key.
const RIGHTS = [
  "{postgres=arwdDxtm/postgres,service_role=arwd/postgres} t " +
  "{postgres=X/postgres,service_role=X/postgres} t",
];

Deno.test("db push: where new objects grant the API roles everything → only the secret key's role has rights", async () => {
  const db = await PGlite.create();
  await addRoles(db, "all");
  await using server = await serveDatabase(db);
  await runCommand(/ db push /, server.url);
  assertEquals(await readRights(db), RIGHTS);
  assertEquals(await read(db, "select polname from pg_policy"), []);
  assertStringIncludes(await runCommand(/ db push /, server.url), "is up to date.");
});

const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

/**
 * Opens a database with 300 used keys of a product, 150 unused ones, and one key of another product.
 * In SQL, `keys` is the table, with `product` and `name`.
 */
async function openShop() {
  const db = await openDatabase();
  await db.exec(`create view keys as
      select id, project_id as product, curr_user as name from activation_keys;
    insert into keys (product, name)
      select '${PRODUCT}', 'O''Dea; "x" \\ ' || number from generate_series(1, 300) as number;
    insert into keys (product) select '${PRODUCT}' from generate_series(1, 150);
    insert into keys (product, name) values (gen_random_uuid(), 'Zoë')`);
  /** Runs SQL in a transaction of its own: PGlite's clock has milliseconds. Returns its time. */
  const commit = async (sql: string) => {
    await sleep(2);
    const [time] = await db.exec(`select now()::text as now; ${sql}`);
    await sleep(2);
    return `${time!.rows[0]!.now}`;
  };
  /** Runs a page's statement as Studio does, which adds a limit to a SELECT. Returns the rows. */
  const run = async (statement = "", values: Record<string, string> = {}) => {
    const isCut = /^select/i.test(statement) && !/limit \d+;$/i.test(statement);
    const sql = isCut ? statement.replace(/;$/, " limit 100;") : statement;
    const results = await db.exec(fillIn(sql, values));
    return (results.at(-1)?.rows ?? []) as Record<string, unknown>[];
  };
  return { db, commit, run, [Symbol.asyncDispose]: () => db.close() };
}

// Another statement needs a name here, and a test.
const INCIDENTS = await readBlocks("docs/incidents.md", "sql");
const [LOOK, UNDO, UNDO_MANY, CHANGED, REFILL, LEAKED, BATCH, GRANT, ...others] = INCIDENTS;
const OPERATE = await readBlocks("docs/operate.md", "sql");
const [MONITOR, ONE_KEY, UNDO_ONE, ERASE, ...more] = OPERATE;
assertEquals([...others, ...more], [], "statements without a test");

Deno.test("SQL: with its placeholders in, a statement fails, and changes nothing", async () => {
  await using shop = await openShop();
  const before = await readKeys(shop.db);
  for (const statement of [...INCIDENTS, ...OPERATE].filter((sql) => /'<\w+>'/.test(sql))) {
    await assertRejects(() => shop.run(statement), Error, "invalid input syntax");
    Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  }
  assertEquals(await readKeys(shop.db), before);
});

Deno.test("incidents.md: a mass deletion shows, and is undone", async () => {
  await using shop = await openShop();
  const before = await readKeys(shop.db);
  const changed_at = await shop.commit("delete from keys");
  assertEquals((await shop.run(LOOK)).map(({ deleted }) => Number(deleted)).sort(), [1, 450]);
  const [undo] = await shop.run(UNDO, { changed_at });
  assertEquals([undo!.undone, undo!.changed_since], [451, []]);
  assertEquals(await readKeys(shop.db), before);
  assertEquals(await shop.run(LOOK), [], "What is undone still shows.");
});

Deno.test("incidents.md: names that were emptied one by one are undone, and one that has changed since is listed", async () => {
  await using shop = await openShop();
  const { db, commit, run } = shop;
  const before = await readKeys(db);
  const ids = await read(db, "select id from keys where name like 'O%'");
  const from = await commit("");
  for (const id of ids) await commit(`update keys set name = null where id = '${id}'`);
  await commit(`update keys set name = 'Eve' where id = '${ids[0]}'`);
  const to = await commit("update keys set name = null where name = 'Zoë'"); // Of another product.
  assertEquals((await run(LOOK)).length, 301);
  const values = { project_id: PRODUCT, changed_by: "postgres", from, to };
  const [sums] = await run(UNDO_MANY, values);
  assertEquals([Number(sums!.undone), Number(sums!.changed_since)], [299, 1]);
  const listed = await run(CHANGED, values);
  const left = listed.find(({ key }) => key === ids[0]);
  assertEquals([left!.name_is, listed.length], ["Eve", 2]);
  await db.query("update keys set name = $1 where id = $2", [left!.name_was, ids[0]]);
  assertEquals(await read(db, `select name from keys where product <> '${PRODUCT}'`), ["null"]);
  await run(UNDO, { changed_at: to });
  assertEquals(await readKeys(db), before);
});

Deno.test("incidents.md: a name that a program changed twice is undone, last change first", async () => {
  await using shop = await openShop();
  const [project_id = ""] = await read(shop.db, "select product from keys where name = 'Zoë'");
  const from = await shop.commit("update keys set name = 'x' where name = 'Zoë'");
  const to = await shop.commit("update keys set name = 'y' where name = 'x'");
  const statement = UNDO_MANY!.replace("emptied", "renamed");
  await shop.run(statement, { project_id, changed_by: "postgres", from, to });
  assertEquals(await read(shop.db, "select name from keys where name !~ '^O'"), ["Zoë"]);
});

Deno.test("incidents.md: a dropped table comes back from the history, which then goes on", async () => {
  await using shop = await openShop();
  const { db, commit } = shop;
  await commit("delete from keys where name is null; drop view keys");
  const before = await readKeys(db);
  await db.exec("drop table activation_keys");
  await db.exec(await readPage(MIGRATIONS[0]!) + REFILL);
  assertEquals([await readKeys(db), await readRights(db)], [before, RIGHTS]);
  for (const damage of ["truncate activation_keys", "delete from activation_keys"]) {
    await shop.run(UNDO, { changed_at: await commit(damage) });
    assertEquals(await readKeys(db), before);
  }
});

Deno.test("incidents.md: after a leak, the list has what the Data API has changed, except first uses", async () => {
  await using shop = await openShop();
  const { db, commit } = shop;
  const [unused] = await read(db, "select id from keys where name is null");
  const from = await commit("update keys set name = 'x' where name = 'Zoë'");
  const use = await commit(`select record_first_use('${unused}', '${PRODUCT}', 'Amelia')`);
  const issue = await commit("insert into keys (product, name) values (gen_random_uuid(), 'Eve')");
  const deletion = await commit("delete from keys where name is null");
  // PGlite cannot go back from another session user, so that user is written into the history.
  await db.exec(`update history.activation_keys set changed_by = 'authenticator'
    where changed_at in ('${use}', '${issue}', '${deletion}')`);
  const lines = await shop.run(LEAKED, { from }) as { after: { curr_user: string } | null }[];
  const names = lines.map(({ after }) => after?.curr_user ?? "deleted");
  assertEquals(names, [...Array(149).fill("deleted"), "Eve"]);
});

Deno.test("a batch: the page's command issues 500 keys into a file, and its statement revokes the unused ones", async () => {
  await using folder = await makeTempFolder();
  const cwd = new URL("repository/", folder.url);
  await Deno.mkdir(cwd);
  const { db, commit, run } = await openShop();
  await using server = await serveDatabase(db);
  const values = { project_id: PRODUCT, file: "keys" };
  await runCommand(/generate_series\(1, 500\)/, server.url, { cwd, values });
  const file = await Deno.readTextFile(new URL("keys.csv", folder.url));
  const [heading, ...ids] = file.trim().split("\n");
  assertEquals([heading, ids.length], ["id", 500]);
  const [used = "", key = "", moved = ""] = ids;
  const [older = ""] = await read(
    db,
    `select id from keys where name is null and id <> '${moved}'`,
  );
  await commit(`update keys set name = 'Amelia' where id = '${used}';
    delete from keys where id in ('${key}', '${older}')`);
  // The daily job issues two keys again, in one request. That makes no batch of theirs.
  await commit(
    `insert into keys (id, product) values ('${key}', '${PRODUCT}'), ('${older}', '${PRODUCT}');
    update keys set product = gen_random_uuid() where id = '${moved}'`,
  );
  const others = (await readKeys(db)).filter((row) => !ids.slice(1).includes(row.slice(1, 37)));
  const rows = await run(BATCH, { key });
  assertEquals(rows.map(({ id }) => `${id}`).sort(), ids.toSorted());
  assertEquals(rows.filter(({ revoked }) => !revoked).map(({ id }) => id), [used]);
  assertEquals(await readKeys(db), others);
});

Deno.test("incidents.md: the last block gives the rights of the migrations", async () => {
  await using shop = await openShop();
  await shop.db.exec(`grant all on table activation_keys to anon;
    revoke all on table activation_keys from service_role;
    grant execute on function record_first_use to public;
    revoke execute on function record_first_use from service_role;
    revoke usage on schema public from service_role, public`);
  await shop.run(GRANT);
  assertEquals(await readRights(shop.db), RIGHTS);
});

Deno.test("operate.md: the history of a key shows, a line is undone, and a name is erased", async () => {
  await using shop = await openShop();
  const { db, commit, run } = shop;
  const [key = ""] = await read(db, "select id from keys where name = 'Zoë'");
  for (const name of ["x", "Zoë"]) {
    await commit(`update keys set name = '${name}' where id = '${key}'`);
  }
  assertEquals((await run(MONITOR)).map(({ renamed }) => renamed), [1, 1, 0, 0]);
  await run(UNDO_ONE, { key, changed_at: await commit("delete from keys") });
  assertEquals(await read(db, "select name from keys"), ["Zoë"]);
  const lines = await run(ONE_KEY, { key }) as { after: { curr_user: string } | null }[];
  const names = lines.map(({ after }) => after?.curr_user ?? "none");
  assertEquals(names, ["Zoë", "none", "Zoë", "x", "Zoë"]);
  await run(ERASE, { key });
  assertEquals(await run(ONE_KEY, { key }), []);
});

/** Returns the statements of a line for psql, in which PGlite's file takes the place of streams. */
const readCopy = async (form: RegExp) =>
  (await readCommand(form)).replace(/std(in|out)/, "'/dev/blob'").split('"').slice(3)
    .filter((part) => / (from|set) |copy/.test(part));

Deno.test("operate.md: a copy has a line for each key, and comes back into an empty table, whose keys no undo deletes", async () => {
  const [copyOut = ""] = await readCopy(/to stdout/);
  const [count = ""] = await readCopy(/count/);
  const [copyIn = "", mark = ""] = await readCopy(/undone = true/);
  assertEquals(await readCopy(/from stdin" </), [copyIn]);
  await using shop = await openShop();
  await shop.db.query("update keys set name = $1 where name = 'Zoë'", ["NULL\t\n\\N"]);
  const { blob } = await shop.db.query(copyOut);
  assertEquals(await read(shop.db, count), [`${(await blob!.text()).split("\n").length - 1}`]);
  await using moved = await openDatabase();
  await moved.query(copyIn, [], { blob: blob! });
  await moved.exec(mark);
  await moved.exec("select history.undo(changed_at) from history.transactions");
  assertEquals(await readKeys(moved), await readKeys(shop.db));
});
