/** What the table takes, how the lookup reads it, and who may do what with it. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/stack/database.ts";
import { LIMITS } from "../support/contract.ts";

const PRODUCT = "2c9e4b7a-61d3-4f58-8a0e-9b35c7d1f620";

// PostgreSQL with nothing but the migrations.
const database = await openDatabase("closed");
Deno.test.afterAll(() => database.close());

/** Registers a test that may change the exit code, which an open PGlite sets. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeExit: false });
}

test("table: a key has a product, and none or a user name of 1 to 256 code points", async () => {
  const insert = (user: string | null, product: string | null = PRODUCT) =>
    database.query(
      "insert into public.activation_keys (project_id, curr_user) values ($1, $2)",
      [product, user],
    );
  for (const name of [null, "a", "🛩".repeat(LIMITS.name)]) await insert(name);
  const tooLong = LIMITS.name + 1;
  for (const name of ["", "a".repeat(tooLong), "🛩".repeat(tooLong)]) {
    const constraint = "activation_keys_curr_user_length";
    await assertRejects(() => insert(name), Error, constraint);
  }
  await assertRejects(() => insert("a", null), Error, "project_id");
});

test("table: it and its columns have comments, and user names compare by their bytes", async () => {
  const { rows } = await database.query(`
    select attname as name from pg_attribute
    where attrelid = 'public.activation_keys'::regclass and attnum > 0 and (
      col_description(attrelid, attnum) is null
      or attname = 'curr_user' and attcollation <> '"C"'::regcollation
    )
    union all
    select 'the table' where obj_description('public.activation_keys'::regclass) is null
  `);
  assertEquals(rows, []);
});

test("table: at 100,000 keys the lookup reads only the index, where unused ones are not", async () => {
  await database.exec(`
    truncate public.activation_keys;
    insert into public.activation_keys (project_id, curr_user)
    select md5((number % 20)::text)::uuid, case when number % 4 > 0 then 'Pilot ' || number end
    from generate_series(1, 100000) as number
  `);
  await database.exec("vacuum analyze public.activation_keys");
  // The query of the Data API, as the role of the secret key.
  const [, explained] = await database.exec(`
    set local role service_role;
    explain (analyze, buffers, costs off)
    select project_id from public.activation_keys
    where project_id = md5('5')::uuid and curr_user = 'Pilot 50025' limit 1
  `);
  const plan = JSON.stringify(explained?.rows);
  assertMatch(plan, /Only Scan using activation_keys_lookup_idx .*rows=1\b/);
  assertMatch(plan, /Heap Fetches: 0\b/);
  assertEquals(plan.includes("Filter:"), false, plan);

  // A quarter of the keys is unused. `reindex` counts.
  const [, counted] = await database.exec(`
    reindex index public.activation_keys_lookup_idx;
    select reltuples from pg_class where relname = 'activation_keys_lookup_idx'`);
  assertEquals(counted?.rows, [{ reltuples: 75000 }]);
});

test("privileges: those of the migrations, whatever the default privileges", async () => {
  await using open = await openDatabase("open");
  for (const given of [database, open]) {
    const { rows } = await given.query(
      "select relacl::text from pg_class where oid = 'public.activation_keys'::regclass",
    );
    // Insert, select, update and delete.
    const relacl = "{postgres=arwdDxtm/postgres,service_role=arwd/postgres}";
    assertEquals(rows, [{ relacl }]);
  }
});
