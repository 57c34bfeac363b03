/** The table on an operator's database: pushed and exported by the CLI; and who has which rights. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { supabase } from "../../tools/command.ts";
import { PROJECT } from "../../tools/project.ts";
import {
  migrate,
  openDatabase,
  startDatabaseServer,
} from "../../tools/stack/database.ts";
import { readBlocks, readCommand } from "../support/pages.ts";

/** All rights of the owner, and these of the secret key's role. */
const rights = (role: string) =>
  `{postgres=arwdDxtm/postgres,service_role=${role}/postgres}`;

const selectRights = (table: string) => `
  select relrowsecurity as rls, relacl::text as rights,
    (select count(*)::int from pg_policy where polrelid = pg_class.oid) as policies
  from pg_class where relname = '${table}'`;

/** Runs a page's command of the CLI on a database. Fails if it fails. */
async function cli(url: string, page: string, command: string) {
  const args = (await readCommand(page, command))
    .map((arg) => arg === "--remote" ? `--remote=${url}` : arg);
  const { code, stdout, stderr } = await supabase(["--yes", ...args], PROJECT);
  assertEquals(code, 0, stderr);
  return stdout;
}

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: pushed with ${defaults} default privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    await cli(server.url, "README.md", "db push");
    const [table] = await server.exec(selectRights("activation_keys"));
    assertEquals(table, { rls: true, rights: rights("arwd"), policies: 0 });
    const again = await cli(server.url, "README.md", "db push");
    assertStringIncludes(again, "is up to date.");
  });
}

Deno.test("export: the page's command prints the keys as JSON", async () => {
  await using server = await startDatabaseServer("open");
  await migrate(server);
  const [key] = await server.exec(
    `insert into activation_keys (project_id, curr_user)
    values (gen_random_uuid(), 'Zoë "Ace"') returning id, project_id, curr_user`,
  );
  const [row] = JSON.parse(
    await cli(server.url, "docs/operate.md", "db query"),
  );
  assertEquals({ ...row, ...key }, row);
});

/** A block of SQL on a page, and the SQL before it; a table, and the rights on it then. */
const BLOCKS: [
  page: string,
  heading: string,
  given: string,
  table: string,
  string,
][] = [
  [
    "docs/operate.md",
    "A table that you have already",
    `drop table activation_keys;
    create table activation_keys (project_id uuid, curr_user text)`,
    "activation_keys",
    "arwd",
  ],
  [
    "docs/incidents.md",
    "500, Database error",
    "revoke all on activation_keys from service_role",
    "activation_keys",
    "arwd",
  ],
  ["docs/incidents.md", "Keys are missing", "", "exported_keys", "a"],
];

for (const [page, heading, given, table, role] of BLOCKS) {
  Deno.test(`rights: ${page}, ${heading}`, async () => {
    await using database = await openDatabase("open");
    await migrate(database);
    const [block = ""] = await readBlocks(page, "sql", heading);
    await database.exec(given);
    await database.exec(block);
    const [found] = await database.exec(selectRights(table));
    assertEquals(found, { rls: true, rights: rights(role), policies: 0 });
  });
}
