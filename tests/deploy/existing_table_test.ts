/** The page about an existing table adopts one, and undoes that. */
import { assertEquals } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import { startDatabaseServer } from "../../tools/stack/database.ts";
import { EXISTING_TABLE, readSnippet } from "../support/pages.ts";

const PRODUCT = SEEDED.project_id;
const USER = "Zoë Brückner#4821";
/** Tables that operators have: their columns for product and user, and the blocks they need. */
const TABLES: [columns: string, ...blocks: string[]][] = [
  ["project_id uuid not null, curr_user text"],
  ['project_id text collate "C", curr_user text', "Block A"],
  ["project_id uuid not null, curr_user character(40)", "Block B"],
  ["product text not null, name varchar(256)", "Block C", "Block D"],
];

/** Everything about the table that the adoption could change, and its rows. */
const STATE = `
  select relrowsecurity, array(select unnest(relacl)::text order by 1)::text as rights,
    array(select concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
      attcollation::regcollation, attacl) from pg_attribute
      where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
    array(select indexdef from pg_indexes where schemaname = 'public' order by 1) as indexes,
    array(select keys::text from activation_keys as keys) as rows
  from pg_class where oid = 'activation_keys'::regclass`;

const read = (text: string) => readSnippet(`-- ${text}`, [EXISTING_TABLE]);
for (const [columns, ...blocks] of TABLES) {
  Deno.test(`existing table: ${columns}: it is adopted, and given back`, async () => {
    await using server = await startDatabaseServer("open");
    await server.exec(`
      create table activation_keys (key text primary key, ${columns}, activations integer not null);
      insert into activation_keys values ('A', '${PRODUCT}', '${USER}', 3),
        ('B', '${PRODUCT}', null, 0);
      revoke usage on schema public from public, service_role;
      revoke all on table activation_keys from authenticated, service_role;
      grant select, insert on table activation_keys to authenticated with grant option;
      grant update (key) on table activation_keys to authenticated;
      grant select on table activation_keys to public`);
    const before = await server.exec(STATE);
    const [printed] = await server.exec(await read("Prints what undoes"));
    for (const block of [...blocks, "Block E", "Always"]) {
      await server.exec((await read(block)).replace(/<(\w+) column>/, "$1"));
    }

    const [after] = await server.exec(STATE);
    const rights = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";
    assertEquals([after?.rights, after?.relrowsecurity], [rights, true]);
    const found = await server.exec(`set role service_role;
      select curr_user from activation_keys where project_id = '${PRODUCT}'
      and curr_user in ('${USER}', '${USER.toLowerCase()}', '${USER} ')`);
    assertEquals(found, [{ curr_user: USER }]);

    await server.exec(`reset role; ${printed?.undo}`);
    assertEquals(await server.exec(STATE), before);
  });
}
