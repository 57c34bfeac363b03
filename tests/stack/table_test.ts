/** What the table takes, and how the lookup reads it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { LIMITS, LOOKUP } from "../support/contract.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

// `!` may not be null. The collation is C, because an upgrade of others could corrupt the index.
Deno.test("table: its columns, their types and collations, and which may not be null", async () => {
  const { rows: [row] } = await database.query<{ columns: string }>(`
    select string_agg(concat_ws(' ', column_name, udt_name, collation_name,
      case is_nullable when 'NO' then '!' end), ', ' order by ordinal_position) as columns
    from information_schema.columns where table_name = 'activation_keys'`);
  const [id, created] = ["id uuid !, project_id uuid !", "created_at timestamptz !"];
  assertMatch(row!.columns, RegExp(`${id}, curr_user text C, order_number text, ${created}`));
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
