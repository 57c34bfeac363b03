/** The table on an operator's database: `db push`, and the SQL on the operators' pages. */
import { PGlite } from "@electric-sql/pglite";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { addRoles, openDatabase, serveDatabase } from "../../tools/database.ts";
import { runCommand } from "../support/operators.ts";
import { fillIn, readBlocks } from "../support/pages.ts";

const [ISSUE = ""] = await readBlocks("docs/operate.md", "sql");
const [GRANT = ""] = await readBlocks("docs/incidents.md", "sql");

/** The rights on the table: those of each role, and whether row level security is on. */
async function readRights(db: PGlite) {
  const { rows } = await db.query(`select relacl::text as rights, relrowsecurity as rls,
    has_schema_privilege('service_role', 'public', 'usage') as schema
    from pg_class where oid = 'public.activation_keys'::regclass`);
  return rows;
}
// The role of the secret key may insert (a), select (r), update (w) and delete (d), nobody else.
const RIGHTS = [{
  rights: "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}",
  rls: true,
  schema: true,
}];

for (const onNewTables of ["all", "nothing"] as const) {
  Deno.test(`db push: where a new table grants the API roles ${onNewTables} → only the secret key's role has rights`, async () => {
    await using db = await PGlite.create();
    await addRoles(db, onNewTables);
    await using server = await serveDatabase(db);
    await runCommand(/ db push /, server.url);
    assertEquals(await readRights(db), RIGHTS);
    assertEquals((await db.query("select polname from pg_policy")).rows, []);
    assertStringIncludes(await runCommand(/ db push /, server.url), "is up to date.");
  });
}

Deno.test("incidents.md: the block of rights gives those of the migration", async () => {
  await using db = await openDatabase();
  await db.exec(`grant all on table activation_keys to anon;
    revoke all on table activation_keys from service_role;
    revoke usage on schema public from service_role, public`);
  await db.exec(GRANT);
  assertEquals(await readRights(db), RIGHTS);
});

Deno.test("operate.md: the statement for who has no back end issues ten keys, each with a number of its own", async () => {
  await using db = await openDatabase();
  await assertRejects(() => db.exec(ISSUE), Error, "invalid input syntax"); // A placeholder is in.
  Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  const project_id = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
  const [issued] = await db.exec(fillIn(ISSUE, { project_id, number: "1234" }));
  const { rows } = await db.query<{ order_number: string }>(
    `select id, order_number from activation_keys
    where project_id = '${project_id}' and curr_user is null`,
  );
  const numbers = new Set(rows.map((row) => row.order_number));
  assertEquals([issued!.rows, numbers.size], [rows, 10]);
});

// operate.md: `login`, which nothing runs; the deployment (here, and `upload_test.ts`); the curl
// and the POST (`requests_test.ts`); the statement above. incidents.md: the rights, also above.
for (const { page, blocks } of [{ page: "operate", blocks: 5 }, { page: "incidents", blocks: 1 }]) {
  Deno.test(`${page}.md: it has no block of code without a test`, async () =>
    assertEquals((await readBlocks(`docs/${page}.md`, "\\w*")).length, blocks));
}
