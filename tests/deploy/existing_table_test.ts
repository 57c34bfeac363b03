/** The page about an existing table adopts one, and undoes that. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import { migrate, startDatabaseServer } from "../../tools/stack/database.ts";
import {
  EXISTING_TABLE,
  OPERATORS,
  readPage,
  readSnippet,
  readSnippets,
} from "../support/pages.ts";

type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>;

const KEYS = "public.activation_keys";
const PRODUCT = SEEDED.project_id;
const USER = "Zoë Brückner#4821";

const PLAIN = "project_id uuid not null, curr_user text";
const AS_TEXT = 'project_id text collate "C" not null, curr_user text';
const PADDED = "project_id uuid not null, curr_user character(40)";
const RENAMED = "product text not null, player varchar(256)";
const NUMBERED = "project_id integer, curr_user character(40)";

/** Tables that operators have: name, columns for product and user, and the blocks they need. */
const TABLES: [name: string, columns: string, ...blocks: string[]][] = [
  ["UUIDs and exact names", PLAIN],
  ["UUIDs as text", AS_TEXT, "-- Block A"],
  ["names that ignore trailing spaces", PADDED, "-- Block B"],
  ["other names, and readers that stay", RENAMED, "-- Block C", "-- Block D"],
  ["numbers for products", NUMBERED, "-- Block E", "-- Block B"],
];

/** Row level security after the adoption, and who may do what: nobody but these. */
const GRANTS = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";

Deno.test("existing table: all SQL of the page adopts one, and goes back", async (t) => {
  const operators = (says: string) => readSnippet(OPERATORS, says);
  const { left, take } = await readSnippets([EXISTING_TABLE]);
  for (const [name, columns, ...blocks] of TABLES) {
    await t.step(name, async () => {
      await using server = await startDatabaseServer("open");
      const rename = columns === NUMBERED ? take("rename column") : "";
      await server.exec(createTable(columns) + rename);
      const before = await stateOf(server);
      const [printed] = await server.exec(take("-- Prints what undoes"));
      const adopt = [...blocks, "-- Block F", "-- What the function needs"];
      let migration = adopt.map((block) => take(block)).join("\n");
      // What the page says to leave out for readers that cannot move yet.
      if (columns === RENAMED) {
        migration = migration.replaceAll(/^(revoke|alter .* enable) .*$/gm, "");
      }

      if (columns === AS_TEXT) {
        // PostgreSQL goes through them in this order: the first one converts.
        await server.exec(`insert into activation_keys values
          ('AAAA-4', '{${PRODUCT.toUpperCase()}}', null, 0), ('AAAA-5', '{${PRODUCT}', null, 0),
          ('AAAA-6', ' ${PRODUCT}', null, 0)`);
        const message = `invalid input syntax for type uuid: "{${PRODUCT}"`;
        await assertRejects(() => server.exec(migration), Error, message);
        const stops = await server.exec(take("-- Values that stop"));
        const values = stops.map(({ project_id }) => `${project_id}`[0]);
        assertEquals(values.sort(), [" ", "{"]);
        await server.exec("delete from activation_keys where key > 'AAAA-2'");
        assertEquals(await stateOf(server), before);
      }

      await server.exec(migration);
      await assertServes(server);
      if (columns === RENAMED) {
        const read = "set role authenticated; select key from activation_keys";
        assertEquals((await server.exec(read)).length, 2);
      } else {
        const [after] = await stateOf(server);
        assertEquals(after?.access, ["true", GRANTS]);
      }
      const number = columns === NUMBERED ? "product_number," : "";
      const ours = (sql: string, more = "") =>
        columns === RENAMED ? sql.replace("set curr_user", "set player") : sql
          .replaceAll("product,", `project_id,${more}`)
          .replaceAll("player", "curr_user");
      const issue = ours(take("-- A key is issued"));
      await server.exec(`set role service_role; ${issue}`);
      const steps = { "-- Move it": 1937, "-- Revoke it": 1938 };
      for (const [says, user] of Object.entries(steps)) {
        const [{ id } = {}] = await server.exec(`select id from ${KEYS}
          where key = 'AAAA-3' and curr_user = 'Amelia#${user}'`);
        const sql = ours(await operators(says)).replaceAll("<key>", `${id}`);
        assertEquals((await server.exec(sql)).length, 1, says);
      }

      // Moved to another project, where the table is made and adopted first.
      await using moved = await startDatabaseServer("open");
      const [row] = await server.exec(`reset role;
        select json_agg(k) from ${KEYS} as k`);
      await moved.exec(`${createTable(columns)} ${rename} ${migration}
        truncate ${KEYS}; ${await operators("-- A table for the export")}
        insert into exported_keys select * from json_populate_recordset(
          null::exported_keys, $$${JSON.stringify(row?.json_agg)}$$);
        ${ours(take("-- Put your keys"), number)}`);
      assertEquals(await stateOf(moved), await stateOf(server));
      await server.exec(`${printed?.undo}`);
      assertEquals(await stateOf(server), before);
    });
  }

  await t.step("renamed, its keys are copied", async () => {
    await using server = await startDatabaseServer("open");
    const page = await readPage(EXISTING_TABLE);
    await server.exec(`
      create table public.users (id integer, name text);
      insert into public.users values (7, '${USER}'), (8, 'Amelia'), (9, ' ');
      create table ${KEYS} (key text primary key, product integer, user_id integer, revoked boolean);
      insert into ${KEYS} values ('AAAA-1', 1, 7), ('AAAA-2', 1, 8), ('AAAA-3', 1, 9), ('AAAA-4', 1, null);
      ${page.match(/alter .+ to l.+;/)};
      create schema cron; create table cron.job_run_details
        (start_time timestamptz, end_time timestamptz, status text, return_message text);
      create function cron.schedule(job text, at text, command text) returns void
        language plpgsql as 'begin execute command; end'`);
    await migrate(server);
    const block = take("-- Make the function's");
    await server.exec(block);
    await assertServes(server);
    await server.exec(`update public.users set name = ' Bessie' where id = 7;
      update public.licenses set revoked = key = 'AAAA-2'`);
    for (let copied = 0; copied < 2; copied++) {
      await server.exec(take("-- Copy every 5", { "<the block>": block }));
      const keys = await server.exec(`select curr_user from ${KEYS}`);
      assertEquals(keys, [{ curr_user: "Bessie" }]);
    }
  });

  const cli = /^npx supabase/; // `migration_test.ts` runs these.
  assertEquals([...left].filter((snippet) => !cli.test(snippet)), []);
});

/** A table with a text primary key, another column without a default, rows and a policy. */
function createTable(columns: string): string {
  const product = columns === NUMBERED ? "1" : PRODUCT;
  return `
    create table ${KEYS} (key text primary key, ${columns}, activations integer not null);
    insert into ${KEYS} values
      ('AAAA-1', '${product}', '${USER}', 3), ('AAAA-2', '${product}', null, 0);
    revoke usage on schema public from public, service_role;
    revoke all on table ${KEYS} from authenticated, service_role;
    grant select, insert on table ${KEYS} to authenticated with grant option;
    grant update (key) on table ${KEYS} to authenticated;
    grant select on table ${KEYS} to public;
    create policy "Everybody reads" on ${KEYS} for select using (true);
    alter table ${KEYS} ${
    columns === RENAMED ? "enable" : "disable"
  } row level security;
  `;
}

/** The lookup, as the secret key's role: it finds the user, no look-alike, and by the index. */
async function assertServes(server: DatabaseServer): Promise<void> {
  await server.exec("set role service_role; set enable_seqscan = off");
  const lookup = (user: string) =>
    `select project_id from public.activation_keys
     where project_id = '${PRODUCT}' and curr_user = '${user}'`;
  assertEquals(await server.exec(lookup(USER)), [{ project_id: PRODUCT }]);
  for (const other of [USER.toLowerCase(), `${USER} `]) {
    assertEquals(await server.exec(lookup(other)), []);
  }
  const plan = await server.exec(`explain ${lookup(USER)}`);
  assertStringIncludes(JSON.stringify(plan), "activation_keys_lookup_idx");
  await server.exec("reset role; reset enable_seqscan");
}

/** Everything about the table that the adoption could change, and its rows. */
function stateOf(server: DatabaseServer) {
  const table = `'${KEYS}'::regclass`;
  return server.exec(`select
    (select array[relrowsecurity::text, array(select unnest(relacl)::text order by 1)::text]
      from pg_class where oid = ${table}) as access,
    array(select concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
      attcollation::regcollation, array(select unnest(attacl)::text order by 1)) from pg_attribute
      where attrelid = ${table} and attnum > 0 and not attisdropped order by attnum) as columns,
    array(select concat_ws(' ', policyname, cmd, qual) from pg_policies) as policies,
    array(select indexdef from pg_indexes where schemaname = 'public' order by 1) as indexes,
    array(select keys::text from ${KEYS} as keys order by key) as rows`);
}
