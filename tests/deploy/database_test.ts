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
const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

/** What is lost, and what of the migration is then pasted. */
const LOSSES = [
  {
    lost: "lost rights and a lost function, and takes rights from others",
    sql: `grant all on all tables in schema public to public, anon, authenticated, service_role;
      grant select (id), update (curr_user) on activation_keys to anon, service_role;
      grant all on all functions in schema public to public, anon, authenticated;
      revoke execute on function issue_key from service_role;
      revoke usage on schema public from service_role, public;
      alter table activation_keys disable row level security;
      drop function activate_key`,
    pasted: MIGRATION.slice(MIGRATION.search(/^alter table/m)),
  },
  {
    lost: "a lost table, whose functions have stayed",
    sql: "drop table activation_keys",
    pasted: MIGRATION,
  },
];

for (const { lost, sql, pasted } of LOSSES) {
  Deno.test(`incidents.md: pasting the migration brings back ${lost}`, async () => {
    await using db = await openDatabase();
    await db.exec(sql);
    await db.exec(pasted);
    const [block = ""] = await readBlocks("docs/incidents.md", "sql", "The statuses and the codes");
    await db.exec(block);
    assertEquals(await readRights(db), RIGHTS);
  });
}

Deno.test("operate.md: its statements make the monitor's key, once, issue a key by hand, and revoke it", async () => {
  await using db = await openDatabase();
  const page = (await readPage("docs/operate.md")).replaceAll(/\s+/g, " ");
  const [monitor = "", issue = "", revoke = "", ...others] = Array.from(
    page.matchAll(/select public\.[^`;]*/g),
    ([sql]) => fillIn(sql, { project_id: PRODUCT, order_item: "hand-1" }),
  );
  assertEquals(others, []);
  const readKeys = async () =>
    (await db.query<{ id: string }>("select * from activation_keys order by order_item")).rows;
  assertEquals((await db.query(monitor)).rows, [{ activate_key: true }]);
  const keys = await readKeys();
  assertEquals((await db.query(monitor)).rows, [{ activate_key: true }]);
  assertEquals(await readKeys(), keys);
  const { rows } = await db.query(issue);
  assertEquals(rows, [{ issue_key: (await readKeys())[0]!.id }]);
  assertEquals((await db.query(revoke)).rows, [{ revoke_key: true }]);
});
