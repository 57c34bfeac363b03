/**
 * The table on an operator's database: what the Supabase CLI and the statements of the operators'
 * pages do with it. `<file>` is in the folder above the one in which a command runs.
 */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { startDataApi } from "../../tools/data_api.ts";
import { addRoles, MIGRATIONS, runFiles } from "../../tools/database.ts";
import { SEEDED } from "../../tools/project.ts";
import { makeOperatorsFolder, readCommand, runCommand } from "../support/operators.ts";
import { fillIn, readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";

/** Starts an empty PostgreSQL (PGlite, in memory), and serves it. */
async function startDatabase(defaults: "all" | "nothing") {
  const db = await PGlite.create();
  await addRoles(db, defaults);
  return { db, ...await serveDatabase(db) };
}

/** Serves a PGlite to other processes, at a `postgres://` address. Disposing of it ends both. */
async function serveDatabase(db: PGlite) {
  const options = { db, host: "127.0.0.1", port: 0, maxConnections: 10 };
  const server = new PGLiteSocketServer(options);
  await server.start();
  const url = `postgres://postgres@${server.getServerConn()}/postgres?sslmode=disable`;
  const end = () => server.stop().then(() => db.close());
  return { url, [Symbol.asyncDispose]: end };
}

/**
 * What the owner of the table may do with it, and the role of the secret key. Nobody else may do
 * anything. The letters are PostgreSQL's: insert (a), select (r), update (w), delete (d), and so on.
 */
const RIGHTS = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";

for (const defaults of ["all", "nothing"] as const) {
  const when = `a new table gives the API roles ${defaults === "all" ? "all rights" : "no right"}`;
  Deno.test(`db push: when ${when} by default → only the secret key's role has rights`, async () => {
    await using server = await startDatabase(defaults);
    await runCommand(/ db push /, server.url);
    const { rows } = await server.db.query(`
      select relrowsecurity as rls, relacl::text as rights,
        (select count(*)::int from pg_policy) as policies
      from pg_class where relname = 'activation_keys'`);
    assertEquals(rows, [{ rls: true, rights: RIGHTS, policies: 0 }]);
    const again = await runCommand(/ db push /, server.url);
    assertStringIncludes(again, "is up to date.");
  });
}

const INCIDENTS = "docs/incidents.md";

/** Runs the page's SQL under a heading, with these values filled in. Returns the rows. */
async function runStatement(db: PGlite, heading: string, values: Record<string, string> = {}) {
  const [statement = ""] = await readBlocks(INCIDENTS, "sql", heading);
  return (await db.exec(fillIn(statement, values))).at(-1)?.rows ?? [];
}

Deno.test("a batch: the page's command issues 500 keys into a CSV file, and its statement revokes the unused ones", async () => {
  await using folder = await makeOperatorsFolder();
  await using server = await startDatabase("nothing");
  const { db } = server;
  const { project_id } = SEEDED;
  await runFiles(db, ...MIGRATIONS);
  await db.exec(`insert into activation_keys (project_id) values ('${project_id}')`); // An older batch.
  const values = { project_id, file: "keys" };
  await runCommand(/generate_series\(1, 500\)/, server.url, { cwd: folder.cwd, values });
  const [heading, ...rows] = (await folder.read("keys.csv")).trim().split("\n");
  assertEquals([heading, rows.length], ["id,created_at", 500]);
  const [used, created_at = ""] = rows[0]!.split(",");
  await db.exec(`update activation_keys set curr_user = 'Amelia' where id = '${used}';
    insert into activation_keys (project_id, created_at) values (gen_random_uuid(), '${created_at}')`);

  const revoke = (values = {}) => runStatement(db, "A batch of keys has leaked", values);
  await assertRejects(() => revoke(), Error, "type uuid"); // With its placeholders left in.
  Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  // The operator marks the keys that are printed as revoked.
  const printed = await revoke({ project_id, created_at }) as { id: string }[];
  const unused = rows.slice(1).map((row) => row.split(",")[0]);
  assertEquals(printed.map(({ id }) => id).sort(), unused.sort(), "keys printed");
  const { rows: left } = await db.query("select curr_user from activation_keys order by 1");
  const names = ["Amelia", null, null]; // Hers, the older batch's, and another product's.
  assertEquals(left, names.map((curr_user) => ({ curr_user })), "rows left");
});

Deno.test("the grants: the page's statement gives the secret key's role all of them back", async () => {
  await using server = await startDatabase("nothing");
  const { db } = server;
  await runFiles(db, ...MIGRATIONS);
  await db.exec(`revoke all on table activation_keys from service_role;
    revoke usage on schema public from service_role, public`);
  await runStatement(db, "The statuses and the codes");
  const { rows } = await db.query(`select relacl::text as rights,
    has_schema_privilege('service_role', 'public', 'usage') as usage
    from pg_class where relname = 'activation_keys'`);
  assertEquals(rows, [{ rights: RIGHTS, usage: true }]);
});

// Another statement, or a second one under a heading, needs a test, too.
Deno.test("SQL: docs/incidents.md has four statements, and each one is tested here", async () => {
  assertEquals((await readBlocks(INCIDENTS, "sql")).length, 4);
  assertEquals((await readBlocks("docs/operate.md", "sql")).length, 0);
});

/** Names that could harm a statement, a command or a JSON file; and null, for an unused key. */
const NAMES = [`a$rows$b "x" \\`, "x'; drop table activation_keys; --", "a\nb", "🛩", null];
const PRODUCT = SEEDED.project_id;
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
const UNKNOWN = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

/** How all rows of `PRODUCT` are damaged; and the counts then: its keys and users, or another's. */
const DAMAGES = [
  { rows: "deleted", by: "delete from activation_keys", counts: [] },
  {
    rows: "emptied",
    by: "update activation_keys set curr_user = null",
    counts: [{ project_id: PRODUCT, keys: 5, users: 0 }],
  },
  {
    rows: "given to a thief",
    by: "update activation_keys set curr_user = 'Eve'",
    counts: [{ project_id: PRODUCT, keys: 5, users: 1 }],
  },
  {
    rows: "moved to an unknown product",
    by: `update activation_keys set project_id = '${UNKNOWN}'`,
    counts: [{ project_id: UNKNOWN, keys: 5, users: 4 }],
  },
];

Deno.test("an operator's table", async (test) => {
  await using folder = await makeOperatorsFolder();
  const { cwd, read } = folder;
  await using dataApi = await startDataApi();
  await using server = await serveDatabase(dataApi.db);
  const { db } = dataApi;
  const backUp = async (file: string) => {
    for (const form of [/--output json/, /--output csv "select/]) {
      await runCommand(form, server.url, { cwd, values: { file } });
    }
  };
  /** Sends a file, or a part of it, with the page's command. */
  const send = async (form: RegExp, values: Record<string, string>) => {
    const line = fillIn(await readCommand(form), values, dataApi.url);
    const { stdout } = await runLine(line, { cwd });
    assertMatch(stdout, /^HTTP\/1.1 201 [^]*\r\n\r\n$/); // And no customer's key.
  };
  const readRows = async (product: string) => {
    // As text, because a `Date` has no microseconds.
    const sql = "select t::text from activation_keys as t where project_id = $1 order by id";
    return (await db.query(sql, [product])).rows;
  };

  Deno.exitCode = 0; // PGlite sets it, and Deno would fail a step.
  await db.exec("delete from activation_keys");
  for (const name of NAMES) {
    const insert = "insert into activation_keys (project_id, curr_user) values ($1, $3), ($2, $3)";
    await db.query(insert, [PRODUCT, OTHER_PRODUCT, name]);
  }
  await backUp("old");
  const exported = await readRows(PRODUCT);
  const otherExported = await readRows(OTHER_PRODUCT);

  await test.step("the counts beside an export have a line for each product", async () => {
    const [statement = ""] = await readBlocks(INCIDENTS, "sql", "First look");
    assertStringIncludes(await readCommand(/--output csv "select/), statement.replace(";", ""));
    const counts = `${PRODUCT},5,4,.*\n${OTHER_PRODUCT},5,4,.*\n`;
    assertMatch(await read("old.csv"), new RegExp(`^project_id,keys,users,newest\n${counts}$`));
  });

  // Since the export, the other product has a new name, and a revoked key.
  await db.exec(`update activation_keys set curr_user = 'Newer' where curr_user is null
      and project_id = '${OTHER_PRODUCT}';
    delete from activation_keys where curr_user = '🛩' and project_id = '${OTHER_PRODUCT}'`);
  const other = await readRows(OTHER_PRODUCT);
  const otherCounts = { project_id: OTHER_PRODUCT, keys: 4, users: 4 };

  for (const { rows, by, counts } of DAMAGES) {
    await test.step(`rows that were ${rows} show in the counts, and go back to the export`, async () => {
      await db.exec(`${by} where project_id = '${PRODUCT}'`);
      const seen = await runStatement(db, "First look") as Record<string, unknown>[];
      const expected = [...counts, otherCounts];
      assertEquals(seen.map(({ newest: _, ...others }) => others), expected);
      for (const project_id of [PRODUCT, UNKNOWN]) {
        await runStatement(db, "Rows are missing or wrong", { project_id });
        assertEquals(await readRows(project_id), []);
      }
      await send(/^node .*rest\/v1/, { project_id: PRODUCT, file: "old" });
      assertEquals(await readRows(PRODUCT), exported);
      assertEquals(await readRows(OTHER_PRODUCT), other);
    });
  }

  await test.step("the comparison of two exports shows each changed row in a line", async () => {
    await backUp("new");
    const files = { "old file": "old", "new file": "new", file: "changes" };
    await runLine(fillIn(await readCommand(/^node .*sets/), files), { cwd });
    const lines = (await read("changes.txt")).trim().split("\n");
    const changes = lines.map((line) => {
      const [, key, mark, row = ""] = line.match(/^(\S+) ([-+]) (.*)$/) ?? [];
      const { id, curr_user } = JSON.parse(row);
      assertEquals(id, key);
      return mark + curr_user;
    });
    assertEquals(changes.sort(), ["+Newer", "-null", "-🛩"]);
  });

  await test.step("rows that are sent once more change no newer name", async () => {
    await db.exec(`update activation_keys set curr_user = 'Newer' where project_id = '${PRODUCT}'`);
    const newer = await readRows(PRODUCT);
    await send(/^node .*rest\/v1/, { project_id: PRODUCT, file: "old" });
    assertEquals(await readRows(PRODUCT), newer);
  });

  await test.step("a move: the whole export is sent into an empty table", async () => {
    await db.exec("delete from activation_keys");
    await send(/^curl .* return=minimal/, { file: "old" });
    assertEquals(await readRows(PRODUCT), exported);
    assertEquals(await readRows(OTHER_PRODUCT), otherExported);
  });
});
