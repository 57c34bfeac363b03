/** The page about an existing table adopts one, and undoes that. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { supabase } from "../../tools/supabase_cli.ts";
import {
  type DatabaseServer,
  startDatabaseServer,
} from "../../tools/stack/database_server.ts";
import { cliCommand, codeBlock } from "../support/pages.ts";
import { PRIVILEGES, PRIVILEGES_QUERY } from "../support/privileges.ts";
import { copyProject } from "../support/project_copy.ts";
import { push, runCli } from "../support/push.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = "Zoë Brückner#4821";

/** A table with a text primary key, another column without a default, rows and policies. */
const TABLE = `
  create table public.activation_keys (
    key text primary key,
    project_id uuid not null,
    curr_user text,
    activations integer not null
  );
  insert into public.activation_keys values
    ('AAAA-1', '${PRODUCT}', '${USER}', 3),
    ('AAAA-2', '${PRODUCT}', null, 0);
  revoke all on table public.activation_keys from authenticated, service_role;
  grant select, insert on table public.activation_keys to authenticated with grant option;
  grant update (curr_user) on table public.activation_keys to authenticated;
  grant select on table public.activation_keys to public;
  alter table public.activation_keys enable row level security;
  create policy "Everybody reads" on public.activation_keys for select using (true);
`;

const PAGE = "supabase/existing-table.md";
const sql = (says: string) => codeBlock(PAGE, "sql", says);
const ADOPTION = await sql("-- What the function needs");

Deno.test("existing table: db push, without anything else, fails and changes nothing", async () => {
  await using server = await startDatabaseServer("open");
  await server.exec(TABLE);
  const before = await stateOf(server);
  const { code, stderr } = await supabase(
    ["db", "push", "--yes", `--remote=${server.url}`],
  );
  assertEquals(code, 1);
  assertStringIncludes(stderr, `relation "activation_keys" already exists`);
  assertEquals(await stateOf(server), before);
});

Deno.test("existing table: is adopted with its rows and its history, serves, and goes back", async () => {
  await using server = await startDatabaseServer("open");
  await server.exec(TABLE);
  // A migration of the project's that this repository does not have.
  await server.exec(`
    create schema supabase_migrations;
    create table supabase_migrations.schema_migrations (
      version text primary key, statements text[], name text
    );
    insert into supabase_migrations.schema_migrations
    values ('20250101000000', array['select 1'], 'keys');
  `);
  await using operator = await startAdoption(server);
  const { stderr } = await supabase(
    ["db", "push", "--yes", `--remote=${server.url}`],
    { cwd: operator.url },
  );
  assertStringIncludes(
    stderr,
    "Remote migration versions not found in local migrations directory",
  );

  await operator.adopt(ADOPTION);
  await assertServes(server);
  assertEquals(await server.exec(PRIVILEGES_QUERY), PRIVILEGES);

  await server.exec("set role service_role");
  await server.exec(await sql("-- A key is issued"));
  const issued = await server.exec(
    "delete from activation_keys where key = 'AAAA-3' returning curr_user",
  );
  assertEquals(issued, [{ curr_user: "Amelia#1937" }]);
  await server.exec("reset role");

  await operator.undo();
});

Deno.test("existing table: a project_id of type text becomes a uuid, and text again", async () => {
  await using server = await startDatabaseServer("open");
  await server.exec(
    TABLE.replace("project_id uuid", 'project_id text collate "C"'),
  );
  await server.exec(
    `insert into public.activation_keys values
      ('AAAA-4', 'concorde', null, 0),
      ('AAAA-5', ' ${PRODUCT}', null, 0),
      ('AAAA-6', '{${PRODUCT.toUpperCase()}}', null, 0)`,
  );
  await using operator = await startAdoption(server);
  const conversion = await sql("-- Fails, and changes nothing");

  // The large table's way: without the index first.
  const [withoutIndex = ""] = ADOPTION.split("create index");
  const { message } = await assertRejects(
    () => operator.adopt(conversion + withoutIndex),
    Error,
    "invalid input syntax for type uuid",
  );
  assertStringIncludes(message, `"concorde"`);
  await operator.assertUnchanged();
  const stops = await server.exec(await sql("-- Values that stop"));
  assertEquals(
    stops.map(({ project_id }) => project_id).sort(),
    [` ${PRODUCT}`, "concorde"],
  );
  await server.exec(`
    delete from public.activation_keys where key in ('AAAA-4', 'AAAA-5');
    -- It converts, but would not come back with its braces and capitals.
    update public.activation_keys set project_id = project_id::uuid where key = 'AAAA-6';
  `);
  await operator.saveUndo();

  await push(server, operator.url);
  await operator.migrate("index", await sql("-- Builds the index"));
  await assertServes(server);
  await operator.undo();
});

Deno.test("existing table: a curr_user that ignores trailing spaces becomes exact", async () => {
  await using server = await startDatabaseServer("open");
  await server.exec(TABLE.replace("curr_user text", "curr_user character(40)"));
  await using operator = await startAdoption(server);
  await operator.adopt(await sql("-- Exact comparison") + ADOPTION);
  await assertServes(server);
  await operator.undo();
});

Deno.test("existing table: columns of other names are followed, and old readers can stay", async () => {
  await using server = await startDatabaseServer("closed");
  await server.exec(
    TABLE.replace("project_id uuid", "product text")
      .replace("curr_user text", "player varchar(256)")
      .replace("update (curr_user)", "update (player)"),
  );
  await using operator = await startAdoption(server);
  // What the page says to leave out for readers that cannot move yet.
  const open = ADOPTION.split(/(?<=;\n)/).filter((statement) =>
    !/^revoke|enable row level security/.test(statement)
  );
  assertEquals(open.length, 3);
  await operator.adopt(
    await sql("-- Columns that always hold") + open.join(""),
  );
  await assertServes(server);
  await assertRejects(() =>
    server.exec("update public.activation_keys set curr_user = 'x'")
  );
  await server.exec("set role authenticated");
  assertEquals(
    await server.exec("select count(*) from public.activation_keys"),
    [{ count: "2" }],
  );
  await server.exec("reset role");
  await operator.undo();
});

Deno.test("existing table: a product that is a number gets a UUID, beside another block", async () => {
  await using server = await startDatabaseServer("open");
  await server.exec(
    TABLE.replace("project_id uuid", "product_number integer")
      .replace("curr_user text", "curr_user character(40)")
      .replaceAll(`'${PRODUCT}'`, "1"),
  );
  await using operator = await startAdoption(server);
  const uuid = (await sql("-- A UUID for each product"))
    .replace(/'.*'/, `'${PRODUCT}'`);
  await operator.adopt(uuid + await sql("-- Exact comparison") + ADOPTION);
  await assertServes(server);
  await operator.undo();
});

/** An operator who follows the page, in a copy of the project. */
async function startAdoption(server: DatabaseServer) {
  const project = await copyProject();
  const { url } = project;
  const migrations = new URL("supabase/migrations/", url);
  const ours = Array.from(Deno.readDirSync(migrations), ({ name }) => name);
  let before: State | undefined;
  let undoing = "";
  let version = 99991231235900;

  const assertUnchanged = async () =>
    assertEquals(await stateOf(server, before), before);
  /** Step 1. */
  const saveUndo = async () => {
    before = await stateOf(server);
    const rows = await server.exec(await sql("-- Prints what undoes"));
    undoing = rows.map(({ undo }) => `${undo}\n`).join("");
  };
  const migrate = async (name: string, migration: string) => {
    const file = new URL(`${version++}_${name}.sql`, migrations);
    await Deno.writeTextFile(file, migration);
    return await push(server, url);
  };
  await saveUndo();
  return {
    ...project,
    assertUnchanged,
    saveUndo,
    migrate,
    /** Steps 2 to 5. */
    async adopt(migration: string) {
      const fetch = await cliCommand("migration fetch", PAGE);
      const { code, stderr } = await supabase(
        [...fetch, "--yes", `--remote=${server.url}`],
        { cwd: url },
      );
      // A project without a history has nothing to fetch.
      if (code !== 0) {
        assertStringIncludes(
          stderr,
          `"supabase_migrations.schema_migrations" does not exist`,
        );
      }
      await runCli(server, await cliCommand("migration repair", PAGE), url);
      await migrate("adopt_activation_keys", migration);
    },
    /** Goes back, and checks that the table is as it was. */
    async undo() {
      await migrate("undo_adoption", undoing);
      await assertUnchanged();
      const created = "20261121000000";
      const revert = await cliCommand(
        `migration repair ${created} --status=reverted`,
        PAGE,
      );
      const versions = ours.map((name) => name.replace(/_.*/, ""));
      await runCli(
        server,
        revert.flatMap((arg) => arg === created ? versions : arg),
        url,
      );
      for (const name of ours) await Deno.remove(new URL(name, migrations));
      assertStringIncludes(
        await push(server, url),
        "Remote database is up to date.",
      );
      await assertUnchanged();
    },
  };
}

/** The lookup, as the secret key's role: it finds the user, no look-alike, and by the index. */
async function assertServes(server: DatabaseServer): Promise<void> {
  await server.exec("set role service_role; set enable_seqscan = off");
  const lookup = (user: string) =>
    `select project_id from public.activation_keys
     where project_id = '${PRODUCT}' and curr_user = '${user}'`;
  assertEquals(await server.exec(lookup(USER)), [{ project_id: PRODUCT }]);
  assertEquals(await server.exec(lookup(USER.toLowerCase())), []);
  assertEquals(await server.exec(lookup(`${USER} `)), []);
  assertStringIncludes(
    JSON.stringify(await server.exec(`explain ${lookup(USER)}`)),
    "activation_keys_lookup_idx",
  );
  await server.exec("reset role; reset enable_seqscan");
}

/** Everything about the table that the adoption could change, and its rows. */
type State = Record<string, Record<string, unknown>[]>;

/**
 * Reads the state of the table.
 *
 * @param before The state to compare it with. Columns that came later are left out: a migration of
 * this project may add some.
 */
async function stateOf(
  server: DatabaseServer,
  before?: State,
): Promise<State> {
  const columns = before?.columns?.map(({ attname }) => `'${attname}'`);
  const all = "attrelid = 'public.activation_keys'::regclass and attnum > 0 " +
    `and not attisdropped and ${columns ? `attname in (${columns})` : true}`;
  const queries = {
    columns: `select attname, format_type(atttypid, atttypmod), attnotnull,
      nullif(attcollation, 0)::regcollation::text as collation from pg_attribute
      where ${all} order by attnum`,
    privileges:
      `select coalesce(attname, '') as attname, grantee, privilege_type, is_grantable
      from (
        select null as attname, relacl as acl from pg_class
        where oid = 'public.activation_keys'::regclass
        union all select attname, attacl from pg_attribute where ${all}
      ) as granted, aclexplode(acl) order by 1, 2, 3`,
    rowLevelSecurity:
      "select relrowsecurity from pg_class where oid = 'public.activation_keys'::regclass",
    policies: "select policyname, cmd, qual from pg_policies",
    indexes:
      "select indexdef from pg_indexes where schemaname = 'public' order by 1",
    rows: `select ${columns?.join().replaceAll("'", '"') ?? "*"}
      from public.activation_keys order by key`,
  };
  const state: State = {};
  for (const [what, query] of Object.entries(queries)) {
    state[what] = await server.exec(query);
  }
  return state;
}
