/** What the table takes, and how the lookup reads it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { LOOKUP } from "../support/contract.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

for (const column of ["project_id", "created_at"]) {
  Deno.test(`table: a key without a ${column} is rejected`, async () => {
    const insert =
      `insert into activation_keys select gen_random_uuid(), project_id, null, created_at
      from (values (gen_random_uuid(), now())) as key (project_id, created_at)`;
    const rejected = database.exec(insert.replace(column, "null"));
    await assertRejects(() => rejected, Error, `null value in column "${column}"`);
    Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  });
}

// An upgrade of a collation library could corrupt an index of any other collation.
Deno.test("table: curr_user has the collation C, which compares byte by byte", async () => {
  const { rows } = await database.query(`select collation_name
    from information_schema.columns where column_name = 'curr_user'`);
  assertEquals(rows, [{ collation_name: "C" }]);
});

// `LOOKUP.sql` asks what the Data API's statement asks.
Deno.test("table: at 20,000 keys the lookup reads only the index", async () => {
  // A quarter of these keys has no user, as in a table of a shop.
  await database.exec(`
    insert into public.activation_keys (project_id, curr_user)
    select '${LOOKUP.project_id}', case when number % 4 > 0 then 'Pilot ' || number end
    from generate_series(1, 20000) as number;
    insert into public.activation_keys (project_id, curr_user)
    values ('${LOOKUP.project_id}', '${LOOKUP.curr_user}')`);
  await database.exec("vacuum analyze public.activation_keys"); // Else, it reads the table, too.
  // As the role of the secret key. (Both statements run in one transaction.)
  const explained = await database.exec(`set local role service_role;
    explain (analyze, buffers, costs off) ${LOOKUP.sql}`);
  const plan = JSON.stringify(explained);
  assertMatch(plan, /Only Scan using activation_keys_lookup_idx .*rows=1\b/);
  assertMatch(plan, /Heap Fetches: 0\b/);
  assert(!plan.includes("Filter:"), `rows are read that were not asked for: ${plan}`);
  // The index leaves out the quarter without a user.
  const { rows } = await database.query(`select reltuples::int < 15100 as is_small from pg_class
    where relname = 'activation_keys_lookup_idx'`);
  assertEquals(rows, [{ is_small: true }]);
});
