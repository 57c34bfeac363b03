/** What `supabase db push` makes of a hosted database: an empty one, and one with the table. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { supabase } from "../../tools/command.ts";
import { migrate, startDatabaseServer } from "../../tools/stack/database.ts";
import { cliCommand, EXISTING_TABLE, readSnippet } from "../support/pages.ts";
import { copyProject } from "../support/project_copy.ts";

/** Runs the CLI in a project's folder. Fails unless it ends with this error, or with none. */
async function cli(url: string, args: string[], cwd = PROJECT, error = "") {
  const target = args.map((arg) => arg.replace(/^--remote$/, `$&=${url}`));
  const output = await supabase(["--yes", ...target], cwd);
  assertEquals(output.code, error ? 1 : 0, output.stderr);
  assertStringIncludes(output.stderr, error);
  return output.stdout;
}

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: pushed, checked, restored, with ${defaults} privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    const push = await cliCommand("db push");
    await cli(server.url, push);
    const [table] = await server.exec(`select relacl::text from pg_class
      where oid = 'activation_keys'::regclass`);
    // Insert, select, update and delete, and nothing for other roles.
    const rights = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";
    assertEquals(table?.relacl, rights);
    assertStringIncludes(await cli(server.url, push), "is up to date.");

    const advise = "db advisors --remote --level=info --fail-on=none";
    const advice = JSON.parse(await cli(server.url, advise.split(" ")));
    const names = advice.map((found: { name: string }) => found.name).sort();
    // Only the secret key's role reads the table, and nothing has used its index yet.
    assertEquals(names, ["rls_enabled_no_policy", "unused_index"]);

    const issue = `insert into activation_keys (project_id, curr_user)
      values (gen_random_uuid(), 'Zoë "Ace"') returning *`;
    const keys = await server.exec(issue);
    const exported = await cli(server.url, await cliCommand("db query"));
    // The restore of a table that is gone runs all migrations again.
    await server.exec("drop table activation_keys");
    await migrate(server);
    // Imports it as the Data API does.
    await server.exec(`${await readSnippet("create table public.exported_keys")}
      insert into public.exported_keys select * from
        json_populate_recordset(null::public.exported_keys, $$${exported}$$);
      ${await readSnippet("on conflict (id)")}`);
    assertEquals(await server.exec("table activation_keys"), keys);
  });
}

Deno.test("migration: an existing table is left alone, adopted, and given back", async () => {
  await using server = await startDatabaseServer("open");
  await using project = await copyProject();
  await server.exec(
    "create table activation_keys (project_id text, curr_user char)",
  );
  const read = (text: string) => readSnippet(`-- ${text}`, [EXISTING_TABLE]);
  const printUndo = await read("Prints what undoes");
  const adoption = await read("Block A") + await read("Block B") +
    await read("Always");
  // All that the adoption changes.
  const before = await server.exec(printUndo);

  const run = async (command: string, error?: string, number = "") => {
    const args = await cliCommand(command, [EXISTING_TABLE]);
    const filled = args.map((arg) => arg.replace("<number>", number));
    return await cli(server.url, filled, project.url, error);
  };
  const migrations = new URL("supabase/migrations/", project.url);
  const ours = [...Deno.readDirSync(migrations)];
  const push = async (name: string, migration: string, error?: string) => {
    await Deno.writeTextFile(new URL(name, migrations), migration);
    await run("db push", error);
  };

  const history = "supabase_migrations.schema_migrations";
  await run("migration fetch", `"${history}" does not exist`);
  await run("db push", 'relation "activation_keys" already exists');
  // A migration that this repository does not have.
  const other = "('20250101000000', '{select 1}', 'keys')";
  await server.exec(`insert into ${history} values ${other}`);
  await run("db push", "Remote migration versions not found in local");
  await run("migration fetch");
  await run("migration repair 2026");

  await push("99990101_adopt.sql", `${adoption} select 1 / 0;`, "by zero");
  assertEquals(await server.exec(printUndo), before);
  await push("99990101_adopt.sql", adoption);
  await push("99990102_undo.sql", `${before[0]?.undo}`);
  assertEquals(await server.exec(printUndo), before);
  for (const { name } of ours) {
    await run("migration repair <number>", "", name.split("_")[0]);
    await Deno.remove(new URL(name, migrations));
  }
  assertStringIncludes(await run("db push"), "is up to date.");
});
