/** The table on an operator's database: `db push`, and the statements that restore or fill it. */
import { PGlite } from "@electric-sql/pglite";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { addRoles, MIGRATIONS, openDatabase, serveDatabase } from "../../tools/database.ts";
import { runCommand } from "../support/operators.ts";
import { fillIn, readBlocks, readPage } from "../support/pages.ts";

/** Who may do what: with the table, with its columns, with the functions, and with the schema. */
async function readRights(db: PGlite) {
  const { rows: [rights] } = await db.query(`select relacl::text as table, relrowsecurity as rls,
      (select array_agg(attname || ' ' || attacl::text order by attnum) from pg_attribute
        where attrelid = pg_class.oid and attacl is not null) as columns,
      (select array_agg(concat_ws(' ', proname, proacl::text, proconfig[1]) order by proname)
        from pg_proc where pronamespace = relnamespace and prosecdef) as functions,
      has_schema_privilege('service_role', 'public', 'usage') as schema
    from pg_class where oid = 'public.activation_keys'::regclass`);
  return rights;
}
// The owner, `postgres`, may do everything. The role of the secret key, `service_role`, may select
// (r) two columns and execute (X) three functions, and nobody else may do anything.
const RIGHTS = {
  table: "{postgres=arwdDxtm/postgres}",
  rls: true,
  columns: ["project_id {service_role=r/postgres}", "curr_user {service_role=r/postgres}"],
  functions: ["activate_key", "issue_key", "revoke_key"]
    .map((name) => `${name} {postgres=X/postgres,service_role=X/postgres} search_path=""`),
  schema: true,
};

for (const onNew of ["all", "nothing"] as const) {
  Deno.test(`db push: where new tables and functions grant the API roles ${onNew} → only the secret key's role has rights`, async () => {
    await using db = await PGlite.create();
    await addRoles(db, onNew);
    await using server = await serveDatabase(db);
    await runCommand(/ db push /, server.url);
    assertEquals(await readRights(db), RIGHTS);
    assertEquals((await db.query("select polname from pg_policy")).rows, []);
    assertStringIncludes(await runCommand(/ db push /, server.url), "is up to date.");
  });
}

const MIGRATION = await readPage(MIGRATIONS[0]!);
const RIGHTS_LOST = "The statuses and the codes"; // The heading on incidents.md.
const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

/** What may have become of the rights, the functions or the table. */
const DAMAGES = [
  {
    damage: "everything was granted to the four roles",
    sql: `grant all on all tables in schema public to public, anon, authenticated, service_role;
      grant select (id), update (curr_user) on activation_keys to anon, service_role;
      grant all on all functions in schema public to public, anon, authenticated, service_role;
      alter table activation_keys disable row level security`,
  },
  {
    damage: "everything was taken from the secret key's role",
    sql: `revoke all on all tables in schema public from service_role;
      revoke all on all functions in schema public from service_role;
      revoke usage on schema public from service_role, public`,
  },
  {
    damage: "the functions were dropped",
    sql: "drop function issue_key, activate_key, revoke_key",
  },
  { damage: "the table was dropped, but not its functions", sql: "drop table activation_keys" },
];

for (const { damage, sql } of DAMAGES) {
  const isTableLost = sql.startsWith("drop table");
  const part = isTableLost ? "the whole migration" : "the migration from `alter table` on";
  Deno.test(`incidents.md: after ${damage}, ${part} restores rights and functions`, async () => {
    await using db = await openDatabase();
    await db.exec(sql);
    await db.exec(isTableLost ? MIGRATION : MIGRATION.slice(MIGRATION.search(/^alter table/m)));
    const [grant = ""] = await readBlocks("docs/incidents.md", "sql", RIGHTS_LOST);
    await db.exec(grant);
    assertEquals(await readRights(db), RIGHTS);
    const values = `(order_item => '1', project_id => '${PRODUCT}')`;
    const { rows } = await db.query(`select public.issue_key ${values} <> 'revoked' as issued,
      public.revoke_key ${values} as revoked`);
    assertEquals(rows, [{ issued: true, revoked: true }]);
  });
}

Deno.test("operate.md: the monitor's statement makes a key with a user, and changes nothing when it is run again", async () => {
  await using db = await openDatabase();
  const [block = ""] = await readBlocks("docs/operate.md", "sql", "The monitor");
  const statement = fillIn(block, { project_id: PRODUCT });
  const readKeys = async () => (await db.query("select * from activation_keys")).rows;
  assertEquals((await db.query(statement)).rows, [{ activate_key: true }]);
  const keys = await readKeys();
  assertEquals(keys.length, 1);
  assertEquals((await db.query(statement)).rows, [{ activate_key: true }]);
  assertEquals(await readKeys(), keys);
});

Deno.test("operate.md: the statements issue a key by hand, and revoke it", async () => {
  await using db = await openDatabase();
  const page = (await readPage("docs/operate.md")).replaceAll(/\s+/g, " ");
  const [issue = "", revoke = ""] = Array.from(
    page.matchAll(/`(select public\.(issue|revoke)_key\(.*?\))`/g),
    ([, sql = ""]) => fillIn(sql, { project_id: PRODUCT, order_item: "hand-1" }),
  );
  const { rows: [issued] } = await db.query<{ issue_key: string }>(issue);
  const { rows } = await db.query("select id, order_item from activation_keys");
  assertEquals(rows, [{ id: issued!.issue_key, order_item: "hand-1" }]);
  assertEquals((await db.query(revoke)).rows, [{ revoke_key: true }]);
});

// operate.md: `login`, `pg_dump` and `psql`, which nothing runs; the deployment (here, and
// `upload_test.ts`); the curl and the POST (`requests_test.ts`); the monitor's statement, above.
// incidents.md: two blocks of leaks (`leaks_test.ts`); the rights, above.
for (const { page, blocks } of [{ page: "operate", blocks: 7 }, { page: "incidents", blocks: 3 }]) {
  Deno.test(`${page}.md: it has no block of code without a test`, async () =>
    assertEquals((await readBlocks(`docs/${page}.md`, "\\w*")).length, blocks));
}
