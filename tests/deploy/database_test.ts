/** The table on an operator's database: `db push`, and what stands on the operators' pages. */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { addRoles, MIGRATIONS, openDatabase } from "../../tools/database.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readCommand, runCommand } from "../support/operators.ts";
import { fillIn, readBlocks } from "../support/pages.ts";

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

for (const defaults of ["all", "nothing"] as const) {
  Deno.test(`db push: where new objects grant the API roles ${defaults} → only the secret key's role has rights`, async () => {
    const db = await PGlite.create();
    await addRoles(db, defaults);
    await using server = await serveDatabase(db);
    await runCommand(/ db push /, server.url);
    assertEquals(await readRights(db), RIGHTS);
    assertEquals(await read(db, "select polname from pg_policy"), []);
    assertStringIncludes(await runCommand(/ db push /, server.url), "is up to date.");
  });
}

const [PRODUCT, OTHER] = ["aaaaaaaa", "bbbbbbbb"].map((part) =>
  `${part}-0000-4000-8000-000000000000`
);
/** 300 used keys of a product, 150 unused ones, and one key of another product. */
const SHOP = `insert into activation_keys (project_id, curr_user)
    select '${PRODUCT}', 'O''Dea; "x" \\ ' || number from generate_series(1, 300) as number;
  insert into activation_keys (project_id) select '${PRODUCT}' from generate_series(1, 150);
  insert into activation_keys (project_id, curr_user) values ('${OTHER}', 'Zoë')`;

/** Opens a database, and issues the keys of `SHOP`. */
async function openShop() {
  const db = await openDatabase();
  await db.exec(SHOP);
  return db;
}

/** Runs SQL in a transaction of its own: PGlite's clock has milliseconds. Returns its time. */
async function commit(db: PGlite, sql: string): Promise<string> {
  await sleep(2);
  const [time] = await db.exec(`select now()::text as now; ${sql}`);
  await sleep(2);
  return `${time!.rows[0]!.now}`;
}

// Another statement needs a name here, and a test.
const INCIDENTS = await readBlocks("docs/incidents.md", "sql");
const [LOOK, UNDO, UNDO_MANY, CHANGED, REFILL, LEAKED, BATCH, GRANT, ...others] = INCIDENTS;
const OPERATE = await readBlocks("docs/operate.md", "sql");
const [MONITOR, ONE_KEY, UNDO_ONE, ERASE, ...more] = OPERATE;
assertEquals([...others, ...more], [], "statements without a test");

/** Runs a statement of a page with these values, as Studio does, which adds a limit to a SELECT. */
async function run(db: PGlite, statement = "", values: Record<string, string> = {}) {
  const isCut = /^select/i.test(statement) && !/limit \d+;$/i.test(statement);
  const sql = isCut ? statement.replace(/;$/, " limit 100;") : statement;
  const results = await db.exec(fillIn(sql, values));
  return (results.at(-1)?.rows ?? []) as Record<string, unknown>[];
}

Deno.test("SQL: with its placeholders in, a statement fails, and changes nothing", async () => {
  await using db = await openShop();
  const before = await readKeys(db);
  for (const statement of [...INCIDENTS, ...OPERATE].filter((sql) => sql.includes("<"))) {
    if (!/'<\w+>'/.test(statement)) continue; // An operator of SQL.
    await assertRejects(() => run(db, statement), Error, "invalid input syntax");
    Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  }
  assertEquals(await readKeys(db), before);
});

Deno.test("incidents.md: a mass deletion shows, and is undone", async () => {
  await using db = await openShop();
  const before = await readKeys(db);
  const changed_at = await commit(db, "delete from activation_keys");
  assertEquals((await run(db, LOOK)).map(({ deleted }) => Number(deleted)).sort(), [1, 450]);
  const [undo] = await run(db, UNDO, { changed_at });
  assertEquals([undo!.undone, undo!.changed_since], [451, []]);
  assertEquals(await readKeys(db), before);
});

Deno.test("incidents.md: names that were emptied one by one are undone, and a name that has changed since is listed", async () => {
  await using db = await openShop();
  const before = await readKeys(db);
  const ids = await read(db, `select id from activation_keys where curr_user like 'O%'`);
  const from = await commit(db, "");
  for (const id of ids) {
    await commit(db, `update activation_keys set curr_user = null where id = '${id}'`);
  }
  const to = await commit(
    db,
    `update activation_keys set curr_user = 'Eve' where id = '${ids[0]}'`,
  );
  assertEquals((await run(db, LOOK)).length, 300);
  const values = { project_id: PRODUCT!, changed_by: "postgres", from, to };
  const [sums] = await run(db, UNDO_MANY, values);
  assertEquals([Number(sums!.undone), Number(sums!.changed_since)], [299, 1]);
  const [left, ...others] = await run(db, CHANGED, values);
  assertEquals([left!.key, left!.name_is, others], [ids[0], "Eve", []]);
  await db.query("update activation_keys set curr_user = $1 where id = $2", [
    left!.name_was,
    ids[0],
  ]);
  assertEquals(await readKeys(db), before);
});

Deno.test("incidents.md: the list of keys that have changed shows more than 100, renamed and moved ones", async () => {
  await using db = await openShop();
  const from = await commit(
    db,
    `update activation_keys set project_id = '${OTHER}' where curr_user is null;
    update activation_keys set curr_user = 'Eve' where curr_user <> 'Zoë'`,
  );
  const rows = await run(db, CHANGED, { from, to: from });
  const count = (name: unknown, product: unknown) =>
    rows.filter((row) => row.name_is === name && row.project_id_is === product).length;
  assertEquals([count("Eve", PRODUCT), count(null, OTHER), rows.length], [300, 150, 450]);
});

Deno.test("incidents.md: a dropped table comes back from the history, which then goes on", async () => {
  await using db = await openShop();
  await commit(db, "delete from activation_keys where curr_user is null");
  const before = await readKeys(db);
  await db.exec("drop table activation_keys");
  await db.exec(await Deno.readTextFile(MIGRATIONS[0]!) + REFILL);
  assertEquals([await readKeys(db), await readRights(db)], [before, RIGHTS]);
  for (
    const damage of ["truncate activation_keys", "update activation_keys set curr_user = null"]
  ) {
    await run(db, UNDO, { changed_at: await commit(db, damage) });
    assertEquals(await readKeys(db), before);
  }
});

Deno.test("incidents.md: after a leak, the list has what the Data API has changed, except first uses", async () => {
  await using db = await openShop();
  const [unused] = await read(db, "select id from activation_keys where curr_user is null");
  const from = await commit(
    db,
    "update activation_keys set curr_user = 'x' where curr_user = 'Zoë'",
  );
  for (
    const request of [
      `select record_first_use('${unused}', '${PRODUCT}', 'Amelia')`,
      `insert into activation_keys (project_id, curr_user) values ('${PRODUCT}', 'Eve')`,
      "delete from activation_keys where curr_user is null",
    ]
  ) {
    // PGlite cannot go back from another session user, so that user is written into the history.
    const set = "update history.activation_keys set changed_by = 'authenticator'";
    await db.exec(`${set} where changed_at = '${await commit(db, request)}'`);
  }
  const lines = await run(db, LEAKED, { from }) as { after: { curr_user: string } | null }[];
  const names = lines.map(({ after }) => after?.curr_user ?? "deleted");
  assertEquals(names, [...Array(149).fill("deleted"), "Eve"]);
});

Deno.test("a batch: the page's command issues 500 keys into a file, and its statement revokes the unused ones", async () => {
  await using folder = await makeTempFolder();
  const cwd = new URL("repository/", folder.url);
  await Deno.mkdir(cwd);
  const db = await openShop();
  await using server = await serveDatabase(db);
  const values = { project_id: PRODUCT!, file: "keys" };
  await runCommand(/generate_series\(1, 500\)/, server.url, { cwd, values });
  const file = await Deno.readTextFile(new URL("keys.csv", folder.url));
  const [heading, ...ids] = file.trim().split("\n");
  assertEquals([heading, ids.length], ["id", 500]);
  const [used = "", reissued = "", moved] = ids;
  await commit(
    db,
    `update activation_keys set curr_user = 'Amelia' where id = '${used}';
    delete from activation_keys where id = '${reissued}'`,
  );
  await commit(
    db,
    `insert into activation_keys (id, project_id) values ('${reissued}', '${PRODUCT}');
    update activation_keys set project_id = '${OTHER}' where id = '${moved}'`,
  );
  const others = (await readKeys(db)).filter((row) => !ids.slice(1).includes(row.slice(1, 37)));
  const rows = await run(db, BATCH, { key: reissued });
  assertEquals(rows.map(({ id }) => `${id}`).sort(), ids.toSorted());
  assertEquals(rows.filter(({ revoked }) => !revoked).map(({ id }) => id), [used]);
  assertEquals(await readKeys(db), others);
});

Deno.test("incidents.md: the last block gives the rights of the migrations", async () => {
  await using db = await openDatabase();
  await db.exec(`grant all on table activation_keys to anon;
    revoke all on table activation_keys from service_role;
    grant execute on function record_first_use to public;
    revoke execute on function record_first_use from service_role;
    revoke usage on schema public from service_role, public`);
  await run(db, GRANT);
  assertEquals(await readRights(db), RIGHTS);
});

Deno.test("operate.md: the history of a key shows, a line is undone, and a name is erased", async () => {
  await using db = await openShop();
  const [key = ""] = await read(db, "select id from activation_keys where curr_user = 'Zoë'");
  for (const name of ["x", "Zoë"]) {
    await commit(db, `update activation_keys set curr_user = '${name}' where id = '${key}'`);
  }
  assertEquals((await run(db, MONITOR)).map(({ renamed }) => renamed), [1, 1, 0, 0]);
  const changed_at = await commit(db, "delete from activation_keys");
  await run(db, UNDO_ONE, { key, changed_at });
  assertEquals(await read(db, "select curr_user from activation_keys"), ["Zoë"]);
  const lines = await run(db, ONE_KEY, { key }) as { after: { curr_user: string } | null }[];
  const names = lines.map(({ after }) => after?.curr_user ?? "none");
  assertEquals(names, ["Zoë", "none", "Zoë", "x", "Zoë"]);
  await run(db, ERASE, { key });
  assertEquals(await run(db, ONE_KEY, { key }), []);
});

// PGlite cannot copy over its socket, so `/dev/blob`, its file, takes the place of psql's streams.
Deno.test("operate.md: a copy has a line for each key, and comes back into an empty table, whose keys no undo deletes", async () => {
  const readStatements = async (form: RegExp) =>
    Array.from(
      (await readCommand(form)).matchAll(/-c "([^"]*)"/g),
      ([, sql = ""]) => sql.replace(/stdin|stdout/, "'/dev/blob'"),
    );
  const [copyOut = "", count = ""] = [
    ...await readStatements(/to stdout/),
    ...await readStatements(/count/),
  ];
  const [copyIn = "", mark = ""] = await readStatements(/undone = true/);
  assertEquals(await readStatements(/from stdin" </), [copyIn]);
  await using db = await openShop();
  await db.query("update activation_keys set curr_user = $1 where curr_user = 'Zoë'", [
    "NULL\t\n\\N",
  ]);
  const { blob } = await db.query(copyOut);
  assertEquals(await read(db, count), [`${(await blob!.text()).split("\n").length - 1}`]);
  await using moved = await openDatabase();
  await moved.query(copyIn, [], { blob: blob! });
  await moved.exec(mark);
  await moved.exec("select history.undo(changed_at) from history.transactions");
  assertEquals(await readKeys(moved), await readKeys(db));
});
