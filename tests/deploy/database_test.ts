/** The table on an operator's database: pushed and exported by the Supabase CLI. */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { addRoles, migrate } from "../../tools/database.ts";
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

/** What the owner, and the role of the secret key, may do with the table. Nobody else may. */
const RIGHTS = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";

for (const defaults of ["all", "nothing"] as const) {
  Deno.test(`db push: the same rights result where a new table grants ${defaults} by default`, async () => {
    await using server = await startDatabase(defaults);
    await runCommand("docs/deploy.md", "db push", server.url);
    const { rows } = await server.db.query(`
      select relrowsecurity as rls, relacl::text as rights,
        (select count(*)::int from pg_policy) as policies
      from pg_class where relname = 'activation_keys'`);
    assertEquals(rows, [{ rls: true, rights: RIGHTS, policies: 0 }]);
    const again = await runCommand("docs/deploy.md", "db push", server.url);
    assertStringIncludes(again, "is up to date.");
  });
}

Deno.test("db query: the page's command exports the keys as JSON", async () => {
  await using server = await startDatabase("nothing");
  await migrate(server.db);
  const { rows: [key] } = await server.db.query<object>(`
    insert into activation_keys (project_id, curr_user)
    values (gen_random_uuid(), 'Zoë "Ace"') returning id, project_id, curr_user`);
  const text = await runCommand("docs/operate.md", "db query", server.url);
  const [row] = JSON.parse(text);
  assertEquals({ ...row, ...key }, row);
});
