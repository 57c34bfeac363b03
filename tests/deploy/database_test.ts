/**
 * The table on an operator's database, which the Supabase CLI writes and reads. `runCommand` runs
 * the first command of `docs/operate.md` that has this text in it.
 */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { addRoles, migrate } from "../../tools/database.ts";
import { SEEDED } from "../../tools/project.ts";
import { readBlocks } from "../support/pages.ts";
import { runCommand } from "./supabase_cli.ts";

/** Serves an empty PostgreSQL (PGlite, in memory) to other processes. Disposing of it ends it. */
async function startDatabase(defaults: "all" | "nothing") {
  const db = await PGlite.create();
  await addRoles(db, defaults);
  const options = { db, host: "127.0.0.1", port: 0, maxConnections: 10 };
  const server = new PGLiteSocketServer(options);
  await server.start();
  const url = `postgres://postgres@${server.getServerConn()}/postgres?sslmode=disable`;
  const end = () => server.stop().then(() => db.close());
  return { db, url, [Symbol.asyncDispose]: end };
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
    await runCommand("db push", server.url);
    const { rows } = await server.db.query(`
      select relrowsecurity as rls, relacl::text as rights,
        (select count(*)::int from pg_policy) as policies
      from pg_class where relname = 'activation_keys'`);
    assertEquals(rows, [{ rls: true, rights: RIGHTS, policies: 0 }]);
    const again = await runCommand("db push", server.url);
    assertStringIncludes(again, "is up to date.");
  });
}

Deno.test("db query: the page's command issues 500 keys, and prints them as CSV", async () => {
  await using server = await startDatabase("nothing");
  await migrate(server.db);
  const text = await runCommand("generate_series(1, 500)", server.url);
  const [heading, ...rows] = text.trim().split("\n");
  assertEquals([heading, rows.length], ["id,created_at", 500]);
  const { rows: [issued] } = await server.db.query(`
    select count(distinct id)::int as keys, count(curr_user)::int as used,
      count(distinct created_at)::int as batches
    from activation_keys where project_id = '${SEEDED.project_id}'`);
  assertEquals(issued, { keys: 500, used: 0, batches: 1 });
});

// Times are compared as text, because a `Date` has no microseconds.
Deno.test("db query: what the page's command exports is what the page's statement brings back", async () => {
  await using server = await startDatabase("nothing");
  await migrate(server.db);
  const readTable = async () =>
    (await server.db.query("select *, created_at::text from activation_keys order by id")).rows;
  await server.db.exec(`
    insert into activation_keys (project_id, curr_user) values
      (gen_random_uuid(), 'Zoë "Ace"'), (gen_random_uuid(), null)`);
  const before = await readTable();
  const exported = await runCommand("--read-only", server.url);
  await server.db.exec("delete from activation_keys");
  const [statement = ""] = await readBlocks("docs/operate.md", "sql", "Bring rows back");
  await server.db.exec(statement.replace("<rows>", () => exported));
  assertEquals(await readTable(), before);
});
