/** Who may do what with the table, on a PostgreSQL that only the migrations have touched. */
import { assertEquals, assertRejects } from "@std/assert";
import { databaseTest as test } from "../support/test_database.ts";
import { openDatabase } from "../../tools/stack/database.ts";
import { PRIVILEGES, PRIVILEGES_QUERY } from "../support/privileges.ts";

const DATABASES = {
  open: await openDatabase("open"),
  closed: await openDatabase("closed"),
};
Deno.test.afterEach(async () => {
  for (const database of Object.values(DATABASES)) {
    await database.exec("reset role");
  }
});
Deno.test.afterAll(async () => {
  for (const database of Object.values(DATABASES)) await database.close();
});

for (const [defaults, database] of Object.entries(DATABASES)) {
  test(`privileges: ${defaults} default privileges make no difference`, async () => {
    const { rows } = await database.query(PRIVILEGES_QUERY);
    assertEquals(rows, PRIVILEGES);
  });

  test(`privileges: what each role may do, after ${defaults} default privileges`, async () => {
    const statements = [
      "insert into public.activation_keys (project_id) values (gen_random_uuid())",
      "select count(*) from public.activation_keys",
      "update public.activation_keys set curr_user = 'Amelia'",
      "delete from public.activation_keys",
    ];
    for (const role of ["anon", "authenticated"]) {
      await database.exec(`set role ${role}`);
      for (const statement of statements) {
        await assertRejects(
          () => database.exec(statement),
          Error,
          "permission denied for table activation_keys",
          `${role}: ${statement}`,
        );
      }
    }
    await database.exec("set role service_role");
    for (const statement of statements) await database.exec(statement);
    await assertRejects(
      () => database.exec("truncate public.activation_keys"),
      Error,
      "permission denied",
    );
  });
}

test("privileges: row level security hides the rows even from a role with a grant", async () => {
  const { closed: database } = DATABASES;
  await database.exec(`
    insert into public.activation_keys (project_id) values (gen_random_uuid());
    grant select on public.activation_keys to anon;
    set role anon;
  `);
  const { rows } = await database.query("select * from public.activation_keys");
  assertEquals(rows, []);
});
