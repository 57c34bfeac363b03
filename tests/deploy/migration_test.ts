/** What `supabase db push` makes of a hosted project's empty database. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PRIVILEGES, PRIVILEGES_QUERY } from "../support/privileges.ts";
import { push, runCli } from "./push.ts";
import {
  type DatabaseServer,
  startDatabaseServer,
} from "../../tools/stack/database_server.ts";

// Intended: only the secret key's role reads the table, and a new index has not been used yet.
const INTENDED = ["rls_enabled_no_policy", "unused_index"];

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: db push once, and then the advisors find nothing, with ${defaults} default privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    await push(server);
    await assertPrivileges(server);

    const again = await push(server);
    assertStringIncludes(again, "Remote database is up to date.");
    await assertPrivileges(server);

    const advisors = "db advisors --level=info --fail-on=none".split(" ");
    const findings: { name: string; detail: string }[] = JSON.parse(
      await runCli(server, advisors) || "[]",
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

async function assertPrivileges(server: DatabaseServer): Promise<void> {
  assertEquals(
    await server.exec(PRIVILEGES_QUERY),
    PRIVILEGES,
    "The migration has to grant these privileges, and revoke all others",
  );
}
