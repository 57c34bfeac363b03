/** The page about an existing table adopts one, and undoes that. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { DefaultPrivileges } from "../../tools/stack/database.ts";
import {
  type DatabaseServer,
  startDatabaseServer,
} from "../../tools/stack/database_server.ts";
import { cliCommand, codeBlock, EXISTING_TABLE } from "../support/pages.ts";
import { PRIVILEGES, PRIVILEGES_QUERY } from "../support/privileges.ts";
import { copyProject } from "../support/project_copy.ts";
import { push, runCli, tryCli } from "./push.ts";

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

const sql = (says: string) => codeBlock(EXISTING_TABLE, "sql", says);
const ADOPTION = await sql("-- What the function needs");

Deno.test("existing table: db push, without anything else, fails and changes nothing", async () => {
  await using operator = await startAdoption(TABLE);
  const { code, stderr } = await tryCli(operator.server, ["db", "push"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, `relation "activation_keys" already exists`);
  await operator.assertUnchanged();
});

Deno.test("existing table: is adopted with its rows and its history, serves, and goes back", async () => {
  // With a migration of the project's that this repository does not have.
  await using operator = await startAdoption(`${TABLE}
    create schema supabase_migrations;
    create table supabase_migrations.schema_migrations (
      version text primary key, statements text[], name text
    );
    insert into supabase_migrations.schema_migrations
    values ('20250101000000', array['select 1'], 'keys');
  `);
  const { server } = operator;
  const { stderr } = await tryCli(server, ["db", "push"], operator.url);
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
  await using operator = await startAdoption(
    `${TABLE.replace("project_id uuid", 'project_id text collate "C"')}
    insert into public.activation_keys values
      ('AAAA-4', 'concorde', null, 0),
      ('AAAA-5', ' ${PRODUCT}', null, 0),
      ('AAAA-6', '{${PRODUCT.toUpperCase()}}', null, 0)`,
  );
  const { server } = operator;
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
  await using operator = await startAdoption(
    TABLE.replace("curr_user text", "curr_user character(40)"),
  );
  await operator.adopt(await sql("-- Exact comparison") + ADOPTION);
  await assertServes(operator.server);
  await operator.undo();
});

Deno.test("existing table: columns of other names are followed, and old readers can stay", async () => {
  await using operator = await startAdoption(
    TABLE.replace("project_id uuid", "product text")
      .replace("curr_user text", "player varchar(256)")
      .replace("update (curr_user)", "update (player)"),
    "closed",
  );
  const { server } = operator;
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
  await using operator = await startAdoption(
    TABLE.replace("project_id uuid", "product_number integer")
      .replace("curr_user text", "curr_user character(40)")
      .replaceAll(`'${PRODUCT}'`, "1"),
  );
  const uuid = (await sql("-- A UUID for each product"))
    .replace(/'.*'/, `'${PRODUCT}'`);
  await operator.adopt(uuid + await sql("-- Exact comparison") + ADOPTION);
  await assertServes(operator.server);
  await operator.undo();
});

/** An operator with this table, who follows the page in a copy of the project. */
async function startAdoption(
  table: string,
  defaults: DefaultPrivileges = "open",
) {
  const running = new AsyncDisposableStack();
  const server = running.use(await startDatabaseServer(defaults));
  await server.exec(table);
  const { url } = running.use(await copyProject());
  const migrations = new URL("supabase/migrations/", url);
  const ours = Array.from(Deno.readDirSync(migrations), ({ name }) => name);
  const [first = {}] = await server.exec(
    "select * from public.activation_keys",
  );
  const columns = Object.keys(first);
  let before: unknown;
  let undoing = "";
  let version = 99991231235900;

  const assertUnchanged = async () =>
    assertEquals(await stateOf(server, columns), before);
  /** Step 1. */
  const saveUndo = async () => {
    before = await stateOf(server, columns);
    const rows = await server.exec(await sql("-- Prints what undoes"));
    undoing = rows.map(({ undo }) => `${undo}\n`).join("");
  };
  const migrate = async (name: string, migration: string) => {
    const file = new URL(`${version++}_${name}.sql`, migrations);
    await Deno.writeTextFile(file, migration);
    await push(server, url);
  };
  const command = (begins: string) => cliCommand(begins, EXISTING_TABLE);
  await saveUndo();
  return {
    server,
    url,
    assertUnchanged,
    saveUndo,
    migrate,
    /** Steps 2 to 5. */
    async adopt(migration: string) {
      const fetch = await command("migration fetch");
      const { code, stderr } = await tryCli(server, fetch, url);
      // A project without a history has nothing to fetch.
      const none = `"supabase_migrations.schema_migrations" does not exist`;
      assert(code === 0 || stderr.includes(none), stderr);
      await runCli(server, await command("migration repair"), url);
      await migrate("adopt_activation_keys", migration);
    },
    /** Goes back, and checks that the table is as it was. */
    async undo() {
      await migrate("undo_adoption", undoing);
      await assertUnchanged();
      const created = "20261121000000";
      const revert = `migration repair ${created} --status=reverted`;
      for (const name of ours) {
        const args = (await command(revert))
          .map((arg) => arg === created ? name.replace(/_.*/, "") : arg);
        await runCli(server, args, url);
        await Deno.remove(new URL(name, migrations));
      }
      const pushed = await push(server, url);
      assertStringIncludes(pushed, "Remote database is up to date.");
      await assertUnchanged();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
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

/**
 * Everything about the table that the adoption could change, and its rows. Columns that a later
 * migration of this project adds are left out.
 *
 * @param columns The columns that the table had before.
 */
async function stateOf(server: DatabaseServer, columns: string[]) {
  const names = [...columns, "project_id", "curr_user"].map((name) =>
    `'${name}'`
  );
  const all =
    `attrelid = 'public.activation_keys'::regclass and attname in (${names})`;
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
    rows: `select ${columns} from public.activation_keys order by key`,
  };
  const state: Record<string, unknown> = {};
  for (const [what, query] of Object.entries(queries)) {
    state[what] = await server.exec(query);
  }
  return state;
}
