/** What the table takes, how the lookup reads it, and who may do what with it. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { openDatabase } from "../../tools/stack/database.ts";
import { startDataApi } from "../../tools/stack/local_data_api.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { LIMITS } from "../support/limits.ts";
import { PRIVILEGES, PRIVILEGES_QUERY } from "../support/privileges.ts";

const PROJECT = "2c9e4b7a-61d3-4f58-8a0e-9b35c7d1f620";

/** PostgreSQL that only the migrations have touched, after both kinds of default privileges. */
const database = await openDatabase("closed");
const open = await openDatabase("open");
Deno.test.afterEach(() =>
  database.exec("reset role; truncate public.activation_keys").then(() => {})
);
Deno.test.afterAll(() =>
  Promise.all([database.close(), open.close()]).then(() => {})
);

/** An open PGlite sets the exit code. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeExit: false });
}

function insert(curr_user: string | null, project: string | null = PROJECT) {
  return database.query(
    "insert into public.activation_keys (project_id, curr_user) values ($1, $2)",
    [project, curr_user],
  );
}

test("table: a key has a project, and none or a user name of 1 to 256 code points", async () => {
  await insert(null);
  await insert("a");
  await insert("🛩".repeat(LIMITS.name));
  const tooLong = LIMITS.name + 1;
  for (const name of ["", "a".repeat(tooLong), "🛩".repeat(tooLong)]) {
    const constraint = "activation_keys_curr_user_length";
    await assertRejects(() => insert(name), Error, constraint);
  }
  await assertRejects(() => insert("a", null), Error, "project_id");
});

test("table: it has a comment, and so has each of its columns", async () => {
  const { rows } = await database.query<{ name: string }>(`
    select attname as name from pg_attribute
    where attrelid = 'public.activation_keys'::regclass and attnum >= 0
      and col_description(attrelid, attnum) is null
    union all
    select 'the table' where obj_description('public.activation_keys'::regclass) is null
  `);
  assertEquals(rows, []);
});

test("table: user names compare by their bytes", async () => {
  const { rows } = await database.query(`
    select collname from pg_attribute join pg_collation on pg_collation.oid = attcollation
    where attrelid = 'public.activation_keys'::regclass and attname = 'curr_user'
  `);
  assertEquals(rows, [{ collname: "C" }]);
});

test("table: at 100,000 keys the lookup reads only the index", async () => {
  await database.exec(`
    insert into public.activation_keys (project_id, curr_user)
    select md5((number % 20)::text)::uuid, case when number % 3 > 0 then 'Pilot ' || number end
    from generate_series(1, 100000) as number
  `);
  await database.exec("vacuum analyze public.activation_keys");
  // The query of the Data API, as the role of the secret key.
  await database.exec("set role service_role");
  const { rows } = await database.query<{ "QUERY PLAN": string }>(`
    explain (analyze, buffers, costs off)
    select project_id from public.activation_keys
    where project_id = md5('4')::uuid and curr_user = 'Pilot 50024' limit 1
  `);
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  assert(
    plan.includes("Index Only Scan using activation_keys_lookup_idx"),
    plan,
  );
  assert(/rows=1\b/.test(plan), `no such key:\n${plan}`);
  assert(plan.includes("Heap Fetches: 0"), plan);
  assert(!plan.includes("Filter:"), plan);
});

test("table: keys that nobody has used are not in the index", async () => {
  const size = async () => {
    const { rows } = await database.query<{ bytes: number }>(
      "select pg_relation_size('public.activation_keys_lookup_idx')::int as bytes",
    );
    return rows[0]?.bytes;
  };
  const empty = await size();
  await database.exec(`
    insert into public.activation_keys (project_id)
    select gen_random_uuid() from generate_series(1, 10000)
  `);
  assertEquals(await size(), empty);
});

test("privileges: those of the migrations, whatever the default privileges", async () => {
  for (const given of [database, open]) {
    const { rows } = await given.query(PRIVILEGES_QUERY);
    assertEquals(rows, PRIVILEGES);
  }
});

test("data api: console.error is given back when it ends", async () => {
  const { error } = console;
  await (await startDataApi(LOCAL_SERVICE))[Symbol.asyncDispose]();
  assertStrictEquals(console.error, error);
});
