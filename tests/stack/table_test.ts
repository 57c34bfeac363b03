/** What the table takes, and how the lookup reads it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { migrate, startDatabaseServer } from "../../tools/stack/database.ts";
import { LIMITS, LOOKUP } from "../support/contract.ts";

Deno.test("table: a key needs a product; its name is null, or 1 to 256 code points", async () => {
  await using database = await startDatabaseServer("closed");
  await migrate(database);
  const insert = (user: string, product = "gen_random_uuid()") =>
    database.exec(`insert into public.activation_keys (project_id, curr_user)
      values (${product}, ${user})`);
  const longest = `repeat('🛩', ${LIMITS.name})`;
  for (const user of ["null", "'a'", longest]) await insert(user);
  for (const user of ["''", `repeat('a', ${LIMITS.name + 1})`]) {
    const constraint = "activation_keys_curr_user_length";
    await assertRejects(() => insert(user), Error, constraint);
  }
  await assertRejects(() => insert("'a'", "null"), Error, "project_id");
  const collation = await database.exec(`
    select collation_name from information_schema.columns where column_name = 'curr_user'`);
  assertEquals(collation, [{ collation_name: "C" }]);
});

Deno.test("table: at 100,000 keys the lookup reads only the index", async () => {
  await using database = await startDatabaseServer("closed");
  await migrate(database);
  await database.exec(`
    insert into public.activation_keys (project_id, curr_user)
    select md5((number % 20)::text)::uuid, case when number % 4 > 0 then 'Pilot ' || number end
    from generate_series(1, 100000) as number
  `);
  await database.exec("vacuum analyze public.activation_keys");
  // What the lookup reads, as the role of the secret key. The product is md5('5').
  const explained = await database.exec(`
    set local role service_role;
    explain (analyze, buffers, costs off)
    ${LOOKUP.sql("e4da3b7f-bbce-2345-d777-2b0674a318d5", "Pilot 50025")}
  `);
  const plan = JSON.stringify(explained);
  assertMatch(plan, /Only Scan using activation_keys_lookup_idx .*rows=1\b/);
  assertMatch(plan, /Heap Fetches: 0\b/);
  assert(!plan.includes("Filter:"), plan);
});
