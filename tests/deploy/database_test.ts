/** The table on an operator's database: of the migration, or adopted as existing-table.md says. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT, SEEDED } from "../../tools/project.ts";
import { supabase } from "../../tools/command.ts";
import { migrate, startDatabaseServer } from "../../tools/stack/database.ts";
import { copyToTempFolder } from "../../tools/temp_folder.ts";
import { cliCommand, EXISTING_TABLE, readSnippet } from "../support/pages.ts";

const PRODUCT = SEEDED.project_id;
const USER = "Zoë Brückner#4821";

/** All rights of the owner. For the secret key's role: insert, select, update and delete. */
const RIGHTS = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";

/** Who may do what with a table. */
const selectAccess = (table: string) => `
  select relrowsecurity as rls, relacl::text as rights,
    (select count(*)::int from pg_policy where polrelid = pg_class.oid) as policies
  from pg_class where oid = '${table}'::regclass`;

/** Runs the CLI in a project's folder. Fails unless it ends with this error, or with none. */
async function cli(url: string, args: string[], cwd = PROJECT, error = "") {
  const all = args.map((arg) => arg === "--remote" ? `${arg}=${url}` : arg);
  const output = await supabase(["--yes", ...all], cwd);
  assertEquals(output.code, error ? 1 : 0, output.stderr);
  assertStringIncludes(output.stderr, error);
  return output.stdout;
}

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: pushed and exported; default privileges: ${defaults}`, async () => {
    await using server = await startDatabaseServer(defaults);
    const push = await cliCommand("db push");
    await cli(server.url, push);
    const table = await server.exec(selectAccess("activation_keys"));
    assertEquals(table, [{ rls: true, rights: RIGHTS, policies: 0 }]);
    assertStringIncludes(await cli(server.url, push), "is up to date.");

    const [key] = await server.exec(
      `insert into activation_keys (project_id, curr_user)
      values (gen_random_uuid(), 'Zoë "Ace"') returning id, project_id, curr_user`,
    );
    const exported = await cli(server.url, await cliCommand("db query"));
    const [{ created_at: _, ...copy }] = JSON.parse(exported);
    assertEquals(copy, key);
    // A line for each field, so that `git diff` shows which one differs.
    assertEquals(exported, JSON.stringify(JSON.parse(exported), null, 2));
  });
}

Deno.test("restore: only the secret key's role reads the table of an export", async () => {
  await using server = await startDatabaseServer("open");
  await migrate(server);
  await server.exec(await readSnippet("create table public.exported_keys"));
  const table = await server.exec(selectAccess("exported_keys"));
  const rights = "{postgres=arwdDxtm/postgres,service_role=ar/postgres}";
  assertEquals(table, [{ rls: true, rights, policies: 0 }]);
});

/** Returns the SQL of the page about an existing table under this comment. */
const read = (comment: string) =>
  readSnippet(`-- ${comment}`, [EXISTING_TABLE]);

/** Everything about a table that the adoption could change, and its rows. */
const STATE = `
  select relrowsecurity, array(select unnest(relacl)::text order by 1)::text as rights,
    array(select concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
      attcollation::regcollation, attacl) from pg_attribute
      where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
    array(select indexdef from pg_indexes where schemaname = 'public' order by 1) as indexes,
    array(select keys::text from activation_keys as keys) as rows
  from pg_class where oid = 'activation_keys'::regclass`;

/**
 * Tables that operators have: their columns for product and user, and the blocks they need. The
 * last one's are `product` and `name`, as the page's `<product column>` becomes `product`.
 */
const TABLES: [columns: string, ...blocks: string[]][] = [
  ['project_id text collate "C", curr_user text', "Block A"],
  ["project_id uuid not null, curr_user character(40)", "Block B"],
  ["product text not null, name varchar(256)", "Block C", "Block D"],
];

for (const [columns, ...blocks] of TABLES) {
  Deno.test(`existing table: ${columns}: adopted, and then as before`, async () => {
    await using server = await startDatabaseServer("open");
    // Privileges of each kind that the adoption removes, and the undo restores.
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
    assertEquals([after?.rights, after?.relrowsecurity], [RIGHTS, true]);
    const found = await server.exec(`set role service_role;
      select curr_user = '${USER}' as same, curr_user = '${USER.toLowerCase()}' as lower,
        curr_user = '${USER} ' as padded
      from activation_keys where project_id = '${PRODUCT}' and curr_user is not null`);
    assertEquals(found, [{ same: true, lower: false, padded: false }]);

    await server.exec(`reset role; ${printed?.undo}`);
    assertEquals(await server.exec(STATE), before);
  });
}

Deno.test("existing table: the page's commands adopt it, and undo that", async () => {
  await using server = await startDatabaseServer("open");
  await using project = await copyToTempFolder(PROJECT);
  const migrations = new URL("supabase/migrations/", project.url);
  const ours = Array.from(Deno.readDirSync(migrations), ({ name }) => name);
  /** Runs the page's command that begins like this, with this `<number>`. */
  const run = async (command: string, { number = "", error = "" } = {}) => {
    const args = await cliCommand(command, [EXISTING_TABLE]);
    const filled = args.map((arg) => arg.replace("<number>", number));
    return await cli(server.url, filled, project.url, error);
  };
  const push = async (name: string, migration: string, error = "") => {
    await Deno.writeTextFile(new URL(name, migrations), migration);
    await run("db push", { error });
  };
  const columns = "project_id text, curr_user char";
  await server.exec(`create table activation_keys (${columns})`);
  const before = await server.exec(STATE);
  const [printed] = await server.exec(await read("Prints what undoes"));

  const error = 'relation "activation_keys" already exists';
  await run("db push", { error });
  // "Adopt it", from step 5 on.
  await run("migration fetch");
  await run("migration repair 20261121000000");
  const adoption = await read("Block A") + await read("Block B") +
    await read("Always");
  await push("99990101_adopt.sql", `${adoption} select 1 / 0;`, "by zero");
  // A migration that fails changes nothing.
  assertEquals(await server.exec(STATE), before);
  await push("99990101_adopt.sql", adoption);

  // "Undo it", from step 2 on.
  await push("99990102_undo.sql", `${printed?.undo}`);
  assertEquals(await server.exec(STATE), before);
  for (const name of ours) {
    await run("migration repair <number>", { number: name.slice(0, 14) });
    await Deno.remove(new URL(name, migrations));
  }
  assertStringIncludes(await run("db push"), "is up to date.");
});
