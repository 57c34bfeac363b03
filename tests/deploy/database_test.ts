/**
 * The table on an operator's database, which the Supabase CLI writes and reads. `runCommand` runs
 * the first command of `docs/operate.md` that has this text in it.
 */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { startDataApi } from "../../tools/data_api.ts";
import { addRoles, migrate } from "../../tools/database.ts";
import { LOCAL_SERVICE, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { runCommand } from "./supabase_cli.ts";

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

Deno.test("db query: the page's command issues 500 keys, and writes them into a CSV file", async () => {
  await using folder = await makeTempFolder();
  await using server = await startDatabase("nothing");
  await migrate(server.db);
  const file = fileURLToPath(new URL("keys", folder.url));
  await runCommand("generate_series(1, 500)", server.url, { file });
  const [heading, ...rows] = (await Deno.readTextFile(`${file}.csv`)).trim().split("\n");
  assertEquals([heading, rows.length], ["id,created_at", 500]);
  const { rows: [issued] } = await server.db.query(`
    select count(distinct id)::int as keys, count(curr_user)::int as used,
      count(distinct created_at)::int as batches
    from activation_keys where project_id = '${SEEDED.project_id}'`);
  assertEquals(issued, { keys: 500, used: 0, batches: 1 });
});

/** Names that could harm a statement, a command or a JSON file; and null, for an unused key. */
const NAMES = [`a$rows$b "x" \\`, "x'; drop table activation_keys; --", "a\nb", "🛩", null];

Deno.test("back up: the page's commands export 10 keys, show that 5 are gone, and bring these back", async () => {
  await using folder = await makeTempFolder();
  await using dataApi = await startDataApi();
  await using server = await serveDatabase(dataApi.db);
  const { db } = dataApi;
  const path = (name: string) => fileURLToPath(new URL(name, folder.url));
  const exportTo = (name: string) => runCommand("--read-only", server.url, { file: path(name) });
  const blocks = await readBlocks("docs/operate.md", "sh", "Back up");
  const commandOf = (program: string) => blocks.find((block) => block.startsWith(program))!;
  const bringBack = async () => {
    const filledIn = commandOf("curl").replace("https://<ref>.supabase.co", dataApi.url)
      .replace("<secret key>", LOCAL_SERVICE.SECRET_KEY).replace("../<file>", () => path("old"));
    const { stdout } = await runLine(filledIn);
    return JSON.parse(stdout).length;
  };
  // As text, because a `Date` has no microseconds.
  const readTable = async () =>
    (await db.query("select t::text from activation_keys as t order by id")).rows;

  await db.exec("delete from activation_keys");
  for (const name of [...NAMES, ...NAMES]) {
    const insert = "insert into activation_keys (project_id, curr_user) values ($1, $2)";
    await db.query(insert, [SEEDED.project_id, name]);
  }
  const before = await readTable();
  await exportTo("old");
  await db.exec(`delete from activation_keys
    where id in (select id from activation_keys order by id limit 5)`);
  await exportTo("new");
  const files = commandOf("git").replace("../<old file>", () => path("old"))
    .replace("../<new file>", () => path("new")).replace("../<file>", () => path("changes"));
  await runLine(files).catch(() => {}); // Git exits with 1 where there is a difference.
  const changes = await Deno.readTextFile(path("changes.diff"));
  assertEquals(changes.match(/^-.*"id"/gm)?.length, 5, "keys that are missing in the table");
  assertEquals(await bringBack(), 5, "rows that come back");
  assertEquals(await readTable(), before);
  assertEquals(await bringBack(), 0, "rows that come back when it is repeated");
  assertEquals(await readTable(), before);
});
