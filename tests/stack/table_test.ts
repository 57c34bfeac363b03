/** The table: its columns, what it rejects, when it gets its times, and how the lookup reads it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { LOOKUP } from "../support/contract.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

// The collation is C, because an upgrade of others could corrupt the indexes.
Deno.test("table: its columns, their types and collations, and which may not be null", async () => {
  const { rows } = await database.query<{ column: string }>(`
    select concat_ws(' ', column_name, udt_name, collation_name,
      case is_nullable when 'NO' then 'not null' end, column_default) as column
    from information_schema.columns where table_name = 'activation_keys'
    order by ordinal_position`);
  await database.query("select 'activation_keys_pkey'::regclass"); // Fails if there is none.
  assertEquals(rows.map(({ column }) => column), [
    "id uuid not null gen_random_uuid()",
    "project_id uuid not null",
    "curr_user text C",
    "order_item text C not null",
    "created_at timestamptz not null now()",
    "activated_at timestamptz",
    "revoked_at timestamptz",
  ]);
});

// The lookup does not read `revoked_at`.
Deno.test("table: it rejects a user of a revoked key", async () => {
  const insert = () =>
    database.exec(`insert into activation_keys (project_id, order_item, curr_user, revoked_at)
      values (gen_random_uuid(), '1', 'Amelia', now())`);
  await assertRejects(insert, Error, "activation_keys_revoked_has_no_user");
  Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
});

// By these times, an operator undoes what a thief of the secret key has done.
Deno.test("table: a call that changes a key writes its time, and a repeated call does not", async () => {
  const product = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
  const activate = `select public.activate_key(
    public.issue_key('1', '${product}')::uuid, '${product}', 'Amelia')`;
  const revoke = `select public.revoke_key('1', '${product}')`;
  const readTimes = async (sql: string) =>
    (await database.exec(`${sql}; select activated_at > '2026-01-01' as activated,
      revoked_at > '2026-01-01' as revoked from activation_keys where order_item = '1'`)).at(-1)!
      .rows;
  assertEquals(await readTimes(activate), [{ activated: true, revoked: null }]);
  const old = "update activation_keys set activated_at = '2001-01-01'";
  assertEquals(await readTimes(`${old}; ${activate}`), [{ activated: false, revoked: null }]);
  const emptied = `${old}, curr_user = null where order_item = '1'`;
  assertEquals(await readTimes(`${emptied}; ${activate}`), [{ activated: true, revoked: null }]);
  assertEquals(await readTimes(revoke), [{ activated: true, revoked: true }]);
  await database.exec("update activation_keys set revoked_at = '2001-01-01'");
  assertEquals(await readTimes(revoke), [{ activated: true, revoked: false }]);
});

// `LOOKUP.sql` asks what the Data API's statement asks.
Deno.test("table: at 20,000 keys the lookup reads only the index", async () => {
  // A quarter of these keys has no user, as in a table of a shop.
  await database.exec(`
    insert into public.activation_keys (project_id, order_item, curr_user)
    select '${LOOKUP.project_id}', number, case when number % 4 > 0 then 'Pilot ' || number end
    from generate_series(1, 20000) as number;
    insert into public.activation_keys (project_id, order_item, curr_user)
    values ('${LOOKUP.project_id}', 'Zoë', '${LOOKUP.curr_user}')`);
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
