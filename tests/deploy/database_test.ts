/**
 * The table on an operator's database, which the Supabase CLI writes and reads. `runCommand` runs
 * the first command of `docs/operate.md` that has this text in it.
 */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { startDataApi } from "../../tools/data_api.ts";
import { addRoles, migrate } from "../../tools/database.ts";
import { LOCAL_SERVICE, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { runCommand } from "../support/supabase_cli.ts";

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

/** Runs the page's SQL under a heading, with these values filled in. Returns the rows. */
async function runStatement(db: PGlite, heading: string, values: Record<string, string> = {}) {
  let [statement = ""] = await readBlocks("docs/operate.md", "sql", heading);
  for (const [gap, value] of Object.entries(values)) {
    statement = statement.replaceAll(`<${gap}>`, value);
  }
  return (await db.exec(statement)).at(-1)?.rows ?? [];
}

Deno.test("a batch: the page's command issues 500 keys into a CSV file, and its statement revokes the unused ones", async () => {
  await using folder = await makeTempFolder();
  await using server = await startDatabase("nothing");
  const { db } = server;
  const { project_id } = SEEDED;
  await migrate(db);
  await db.exec(`insert into activation_keys (project_id) values ('${project_id}')`); // An older batch.
  const file = fileURLToPath(new URL("keys", folder.url));
  await runCommand("generate_series(1, 500)", server.url, { file });
  const [heading, ...rows] = (await Deno.readTextFile(`${file}.csv`)).trim().split("\n");
  assertEquals([heading, rows.length], ["id,created_at", 500]);
  const [used, created_at = ""] = rows[0]!.split(",");
  await db.exec(`update activation_keys set curr_user = 'Amelia' where id = '${used}';
    insert into activation_keys (project_id, created_at) values (gen_random_uuid(), '${created_at}')`);

  const revoke = (values = {}) => runStatement(db, "A batch has leaked", values);
  await assertRejects(() => revoke(), Error, "type uuid"); // With its gaps left in.
  Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  const revoked = await revoke({ project_id, created_at });
  assertEquals(revoked.length, 499, "rows printed");
  // Whole rows, which the operator saves.
  assertEquals(Object.keys(revoked[0]!), ["id", "project_id", "curr_user", "created_at"]);
  const { rows: left } = await db.query("select curr_user from activation_keys order by 1");
  const names = ["Amelia", null, null]; // Hers, the older batch's, and another add-on's.
  assertEquals(left, names.map((curr_user) => ({ curr_user })), "rows left");
});

Deno.test("the grants: the page's statement gives the secret key's role all of them back", async () => {
  await using server = await startDatabase("nothing");
  const { db } = server;
  await migrate(db);
  await db.exec(`revoke all on table activation_keys from service_role;
    revoke usage on schema public from service_role, public`);
  await runStatement(db, "The statuses");
  const { rows } = await db.query(`select relacl::text as rights,
    has_schema_privilege('service_role', 'public', 'usage') as usage
    from pg_class where relname = 'activation_keys'`);
  assertEquals(rows, [{ rights: RIGHTS, usage: true }]);
});

// Another statement, or a second one under a heading, needs a test, too.
Deno.test("SQL: docs/operate.md has two statements, and each one is tested here", async () => {
  assertEquals((await readBlocks("docs/operate.md", "sql")).length, 2);
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
    assertMatch(stdout, /^HTTP\/1.1 201 [^]*\r\n\r\n$/); // And no customer's key.
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
  // The user's settings have colours, another program for differences, and one that turns JSON into
  // other text. With either program, a plain `git diff` writes an empty file.
  const attributes = JSON.stringify(path("attributes"));
  await Deno.writeTextFile(path("attributes"), "*.json diff=json");
  await Deno.writeTextFile(
    path("settings"),
    `[core] attributesFile = ${attributes}\n[color] ui = always
    [diff] external = true\n[diff "json"] textconv = true`,
  );
  const files = commandOf("git").replace("../<old file>", () => path("old"))
    .replace("../<new file>", () => path("new")).replace("../<file>", () => path("changes"));
  const env = { ...process.env, GIT_CONFIG_GLOBAL: path("settings") };
  await runLine(files, { env }).catch(() => {}); // Git exits with 1 where there is a difference.
  const changes = await Deno.readTextFile(path("changes.diff"));
  assertEquals(changes.match(/^-.*"id"/gm)?.length, 5, "keys that are missing in the table");
  await bringBack();
  assertEquals(await readTable(), before);
  await db.exec("update activation_keys set curr_user = 'Bessie'"); // Rows that stay as they are.
  const changed = await readTable();
  await bringBack();
  assertEquals(await readTable(), changed, "after it is repeated");
});
