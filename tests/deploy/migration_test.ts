/** What `supabase db push` makes of a hosted project's database, empty or with a table of its own. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { PRIVILEGES, PRIVILEGES_QUERY } from "../support/privileges.ts";
import { cliCommand, codeBlock } from "../support/pages.ts";
import { copyProject } from "../support/project_copy.ts";
import { supabase, warnings } from "../../tools/supabase_cli.ts";
import {
  type DatabaseServer,
  startDatabaseServer,
} from "../../tools/types/database_server.ts";

// Intended: only the secret key's role reads the table, and a new index has not been used yet.
const INTENDED = ["rls_enabled_no_policy", "unused_index"];

const OPERATORS = "supabase/README.md";

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: db push, with ${defaults} default privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    await push(server);
    await assertPrivileges(server);

    const again = await push(server);
    assertStringIncludes(again, "Remote database is up to date.");
    await assertPrivileges(server);
  });

  Deno.test(`migration: the advisors find nothing, with ${defaults} default privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    await push(server);
    const findings: { name: string; detail: string }[] = JSON.parse(
      await run(server, ["db", "advisors", "--level=info", "--fail-on=none"]) ||
        "[]",
    );
    assertEquals(
      findings.filter(({ name }) => !INTENDED.includes(name)),
      [],
      "`supabase db advisors` finds these: fix the migration",
    );
    assert(
      findings.some(({ name }) => name === "rls_enabled_no_policy"),
      "Row level security is off: the migration has to enable it",
    );
  });
}

Deno.test("migration: a table that was there before is kept as it is, and then serves", async () => {
  await using server = await startDatabaseServer("open");
  await server.exec(`
    create table public.activation_keys (
      key text primary key,
      project_id uuid not null,
      curr_user text,
      activations integer not null default 0
    );
    insert into public.activation_keys values
      ('AAAA-1', '6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4', 'Zoë Brückner#4821', 3),
      ('AAAA-2', '6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4', null, 0);
  `);
  const content = () =>
    server.exec(
      "select key, project_id, curr_user, activations from public.activation_keys order by key",
    );
  const before = await content();

  // Pushing the migration as it is fails, and changes nothing.
  const args = ["db", "push", "--yes", `--remote=${server.url}`];
  const { code, stderr } = await supabase(args);
  assertEquals(code, 1);
  assertStringIncludes(stderr, `relation "activation_keys" already exists`);
  assertEquals(await content(), before);

  // What the page for operators says instead.
  await run(server, await cliCommand(OPERATORS, "migration repair"));
  await push(server);
  assertEquals(await content(), before);

  await using project = await copyProject();
  await Deno.writeTextFile(
    new URL("supabase/migrations/99991231235959_adopt.sql", project.url),
    await codeBlock(OPERATORS, "sql", "-- What the function needs"),
  );
  await push(server, project.url);
  assertEquals(await content(), before);
  await assertPrivileges(server);
  await server.exec("set enable_seqscan = off");
  const plan = await server.exec(`
    explain select project_id from public.activation_keys
    where project_id = '6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4' and curr_user = 'Zoë Brückner#4821'
  `);
  assertStringIncludes(JSON.stringify(plan), "activation_keys_lookup_idx");
});

async function assertPrivileges(server: DatabaseServer): Promise<void> {
  assertEquals(
    await server.exec(PRIVILEGES_QUERY),
    PRIVILEGES,
    "The migration has to grant these privileges, and revoke all others",
  );
}

async function push(server: DatabaseServer, cwd = PROJECT): Promise<string> {
  return await run(server, await cliCommand(OPERATORS, "db push"), cwd);
}

/** Runs the CLI on a database; fails if the command fails or prints a warning. */
async function run(
  server: DatabaseServer,
  args: string[],
  cwd = PROJECT,
): Promise<string> {
  const { code, stdout, stderr } = await supabase(
    [...args, "--yes", `--remote=${server.url}`],
    { cwd },
  );
  assertEquals(code, 0, `supabase ${args.join(" ")}:\n${stderr}`);
  assertEquals(warnings(stderr), [], "fix supabase/config.toml");
  return stdout;
}
