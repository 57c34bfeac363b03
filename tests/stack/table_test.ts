/** What the table takes, and how the lookup reads it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { LIMITS, LOOKUP } from "../support/contract.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

// An upgrade of a collation library could corrupt an index of any other collation than C.
Deno.test("table: its columns, of which only curr_user and order_number may be null", async () => {
  const { rows } = await database.query(`select column_name || ' ' || udt_name as name,
    is_nullable = 'YES' as may_be_null, collation_name as collation
    from information_schema.columns where table_name = 'activation_keys' order by ordinal_position`);
  const columns = [
    { name: "id uuid", may_be_null: false, collation: null },
    { name: "project_id uuid", may_be_null: false, collation: null },
    { name: "curr_user text", may_be_null: true, collation: "C" },
    { name: "order_number text", may_be_null: true, collation: null },
    { name: "created_at timestamptz", may_be_null: false, collation: null },
  ];
  assertEquals<unknown>(rows.slice(0, columns.length), columns);
});

Deno.test("table: a name of 256 characters is taken, and one of 257 is rejected", async () => {
  const insert = (length: number) =>
    database.query(`insert into activation_keys (project_id, curr_user)
      values (gen_random_uuid(), repeat('🛩', ${length}))`);
  await insert(LIMITS.name);
  await assertRejects(() => insert(LIMITS.name + 1), Error, "activation_keys_curr_user_length");
  Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
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
