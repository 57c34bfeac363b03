/** What `supabase db push` makes of a hosted project's empty database. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { startDatabaseServer } from "../../tools/stack/database_server.ts";
import { push, runCli } from "./push.ts";

for (const defaults of ["closed", "open"] as const) {
  Deno.test(`migration: db push once, and then the advisors find nothing, with ${defaults} default privileges`, async () => {
    await using server = await startDatabaseServer(defaults);
    await push(server);
    const again = await push(server);
    assertStringIncludes(again, "Remote database is up to date.");

    const advisors = "db advisors --level=info --fail-on=none".split(" ");
    const findings: { name: string }[] = JSON.parse(
      await runCli(server, advisors) || "[]",
    );
    assertEquals(
      // A new index has not been used yet.
      findings.map(({ name }) => name).filter((name) =>
        name !== "unused_index"
      ),
      // Intended: only the secret key's role reads the table.
      ["rls_enabled_no_policy"],
      "`supabase db advisors` finds these: fix the migration",
    );
  });
}
