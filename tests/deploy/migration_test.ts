/** What `supabase db push` makes of a hosted database: an empty one, and one with the table. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { supabase } from "../../tools/command.ts";
import { startDatabaseServer } from "../../tools/stack/database.ts";
import {
  cliCommand,
  EXISTING_TABLE,
  OPERATORS,
  readSnippet,
} from "../support/pages.ts";
import { copyProject } from "../support/project_copy.ts";

const UP_TO_DATE = "Remote database is up to date.";

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: db push once, then the advisors find nothing, and exported keys come back, with ${defaults} default privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    const push = await cliCommand("db push");
    await cli(server, push);
    assertStringIncludes(await cli(server, push), UP_TO_DATE);

    const advise = "db advisors --remote --level=info --fail-on=none";
    const advice = JSON.parse(await cli(server, advise.split(" ")));
    const names = advice.map((found: { name: string }) => found.name).sort();
    // Only the secret key's role reads the table, and nothing has used its index yet.
    assertEquals(names, ["rls_enabled_no_policy", "unused_index"]);

    const issue = `insert into public.activation_keys (project_id, curr_user)
      values (gen_random_uuid(), 'Zoë "Ace"') returning *`;
    const keys = await server.exec(issue);
    const query = await cliCommand("db query", ["supabase/README.md"]);
    const exported = await cli(server, query);
    // The restore makes a table again that was dropped.
    await server.exec("drop table public.activation_keys");
    await cli(server, await cliCommand("migration repair"));
    await cli(server, push);
    const sql = (says: string) => readSnippet(OPERATORS, says);
    // As the Data API takes the file.
    await server.exec(`${await sql("-- A table for the export")}
      insert into public.exported_keys select * from
        json_populate_recordset(null::public.exported_keys, $$${exported}$$);
      ${await sql("-- Put keys back")}`);
    assertEquals(await server.exec("table public.activation_keys"), keys);
  });
}

Deno.test("migration: an existing table is left alone by db push, adopted by the page's commands, and given back", async () => {
  await using server = await startDatabaseServer("open");
  await using project = await copyProject();
  const columns = "project_id text, curr_user char(40)";
  await server.exec(`create table public.activation_keys (${columns})`);
  const sql = (says: string) => readSnippet([EXISTING_TABLE], says);
  const adoption = await sql("-- Block A") + await sql("-- Block B") +
    await sql("-- What the function needs");
  // It prints everything that the adoption changes.
  const printUndo = await sql("-- Prints what undoes");
  const before = await server.exec(printUndo);

  /** Runs the page's command. One that ends with this error changes nothing. */
  const run = async (command: string, error?: string) => {
    const args = await cliCommand(command, ["README.md", EXISTING_TABLE]);
    const stdout = await cli(server, args, project.url, error);
    if (error) assertEquals(await server.exec(printUndo), before);
    return stdout;
  };
  const migrations = new URL("supabase/migrations/", project.url);
  const push = async (version: number, migration: string, error?: string) => {
    const file = new URL(`${version}_existing.sql`, migrations);
    await Deno.writeTextFile(file, migration);
    await run("db push", error);
  };

  const history = "supabase_migrations.schema_migrations";
  await run("migration fetch", `"${history}" does not exist`);
  await run("db push", 'relation "activation_keys" already exists');
  // A migration that this repository does not have.
  const row = "('20250101000000', '{select 1}', 'keys')";
  await server.exec(`insert into ${history} values ${row}`);
  await run("db push", "Remote migration versions not found in local");
  await run("migration fetch");
  await run("migration repair 20261121000000 --status=applied");

  await push(99990101000001, `${adoption} select 1 / 0;`, "by zero");
  await push(99990101000001, adoption);
  assertStringIncludes(await run("db push"), UP_TO_DATE);

  await push(99990101000002, `${before[0]?.undo}`);
  assertEquals(await server.exec(printUndo), before);
  const revert = await cliCommand("migration repair");
  await cli(server, revert, project.url);
  const name = "20261121000000_create_activation_keys.sql";
  await Deno.remove(new URL(name, migrations));
  assertStringIncludes(await run("db push"), UP_TO_DATE);
});

/** Runs the CLI in a project's folder. Fails unless it ends with this error, or with none. */
async function cli(
  { url }: { url: string },
  args: string[],
  cwd = PROJECT,
  error = "",
): Promise<string> {
  const target = args.map((arg) => arg.replace(/^--remote$/, `$&=${url}`));
  const output = await supabase(["--yes", ...target], { cwd });
  const { code, stdout, stderr } = output;
  assertEquals(code, error ? 1 : 0, stderr);
  assertStringIncludes(stderr, error);
  return stdout;
}
