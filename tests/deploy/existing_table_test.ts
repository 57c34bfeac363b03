/** The page about an existing table adopts one, and undoes that. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import {
  type DatabaseServer,
  startDatabaseServer,
} from "../../tools/stack/database.ts";
import {
  codeBlock,
  codeOf,
  EXISTING_TABLE,
  readPage,
  TAKEN,
} from "../support/pages.ts";

const PRODUCT = SEEDED.project_id;
const USER = "Zoë Brückner#4821";

const sql = (says: string) => codeBlock(EXISTING_TABLE, "sql", says);
const RENAME = await sql("rename column project_id");
const PRINT_UNDO = await sql("-- Prints what undoes");
const ADOPTION = await sql("-- What the function needs");
const AS_UUID = await sql("-- Block A");
const EXACT = await sql("-- Block B");
const OTHER_NAMES = await sql("-- Block C") + await sql("-- Block D");
const NUMBERS = await sql("-- Block E");
const STOPS = await sql("-- Values that stop");
const KEY = await sql("-- A key is issued");
const COPY = await sql("-- Copy the keys");

/** What the page says to leave out for readers that cannot move yet. */
const OPEN = ADOPTION.replaceAll(/^(revoke|alter table) .*\n/gm, "");

const PLAIN = "project_id uuid not null, curr_user text";
const AS_TEXT = 'project_id text collate "C" not null, curr_user text';
const PADDED = "project_id uuid not null, curr_user character(40)";
const RENAMED = "product text not null, player varchar(256)";
const NUMBERED = "project_id integer, curr_user character(40)";

/** Row level security after the adoption, and who may do what: nobody but these. */
const CLOSED = [
  "true",
  "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}",
];

/** Operators' tables: what they have, their columns for product and user, and section 4. */
const SHAPES: [has: string, columns: string, migration: string][] = [
  ["UUIDs and exact names", PLAIN, ADOPTION],
  ["UUIDs as text", AS_TEXT, AS_UUID + ADOPTION],
  ["names that ignore trailing spaces", PADDED, EXACT + ADOPTION],
  ["other names, and readers that stay", RENAMED, OTHER_NAMES + OPEN],
  ["numbers for products", NUMBERED, NUMBERS + EXACT + ADOPTION],
];

for (const [has, columns, migration] of SHAPES) {
  Deno.test(`existing table: with ${has}, it is adopted, serves, and goes back`, async () => {
    await using server = await startDatabaseServer("open");
    await server.exec(createTable(columns));
    const before = await stateOf(server);
    const [printed] = await server.exec(PRINT_UNDO);

    if (columns === AS_TEXT) {
      // PostgreSQL goes through them in this order: the first one converts.
      await server.exec(`insert into activation_keys values
        ('AAAA-4', '{${PRODUCT.toUpperCase()}}', null, 0),
        ('AAAA-5', 'concorde', null, 0), ('AAAA-6', ' ${PRODUCT}', null, 0)`);
      const message = 'invalid input syntax for type uuid: "concorde"';
      await assertRejects(() => server.exec(migration), Error, message);
      const stops = (await server.exec(STOPS)).map((row) => row.project_id);
      assertEquals(stops.sort(), [` ${PRODUCT}`, "concorde"]);
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
      assertEquals(after?.access, CLOSED);
    }

    const key = columns === RENAMED ? KEY : KEY
      .replaceAll("product", "project_id").replaceAll("player", "curr_user");
    const issued = await server.exec(`set role service_role; ${key}
      delete from activation_keys where key = 'AAAA-3' returning curr_user`);
    assertEquals(issued, [{ curr_user: "Amelia#1937" }]);

    await server.exec(`reset role; ${printed?.undo}`);
    assertEquals(await stateOf(server), before);
  });
}

Deno.test("existing table: renamed, its keys are copied", async () => {
  await using server = await startDatabaseServer("open");
  const [rename] = (await readPage(EXISTING_TABLE)).match(/alter .+ to l.+;/)!;
  const file = "supabase/migrations/20261121000000_create_activation_keys.sql";
  await server.exec(`
    create table public.users (id integer, name text);
    insert into public.users values (7, '${USER}'), (8, 'Amelia');
    create table public.activation_keys (key text primary key, product integer, user_id integer);
    insert into public.activation_keys values ('AAAA-1', 1, 7), ('AAAA-2', 1, null);
    ${rename} ${await readPage(file)} ${COPY}
  `);
  await assertServes(server);
});

Deno.test("existing table: every SQL block of the page is run", async () => {
  const left = await codeOf([EXISTING_TABLE], "sql");
  assertEquals(left.filter((code) => !TAKEN.has(code)), []);
});

/** A table with a text primary key, another column without a default, rows and a policy. */
function createTable(columns: string): string {
  const product = columns === NUMBERED ? "1" : PRODUCT;
  return `
    create table public.activation_keys (
      key text primary key, ${columns}, activations integer not null
    );
    insert into public.activation_keys values
      ('AAAA-1', '${product}', '${USER}', 3), ('AAAA-2', '${product}', null, 0);
    revoke usage on schema public from public, service_role;
    revoke all on table public.activation_keys from authenticated, service_role;
    grant select, insert on table public.activation_keys to authenticated with grant option;
    grant update (key) on table public.activation_keys to authenticated;
    grant select on table public.activation_keys to public;
    create policy "Everybody reads" on public.activation_keys for select using (true);
    alter table public.activation_keys
      ${columns === RENAMED ? "enable" : "disable"} row level security;
    ${columns === NUMBERED ? RENAME : ""}
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
  const table = "'public.activation_keys'::regclass";
  return server.exec(`
    select
      (select array[relrowsecurity::text, array(select unnest(relacl)::text order by 1)::text]
       from pg_class where oid = ${table}) as access,
      array(select concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
         attcollation::regcollation, array(select unnest(attacl)::text order by 1))
       from pg_attribute where attrelid = ${table} and attnum > 0 and not attisdropped
       order by attnum) as columns,
      array(select concat_ws(' ', policyname, cmd, qual) from pg_policies) as policies,
      array(select indexdef from pg_indexes where schemaname = 'public' order by 1) as indexes,
      array(select keys::text from public.activation_keys as keys order by key) as rows
  `);
}
