/** What the table takes, and how the lookup reads it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { LOOKUP } from "../support/contract.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

const UUID = "gen_random_uuid()";
const LENGTH = "activation_keys_curr_user_length";
/** The columns of a new key, in SQL; and what rejects the key, if anything does. */
const KEYS = [
  { key: "no user yet", project_id: UUID, curr_user: "null" },
  { key: "a user of 256 code points", project_id: UUID, curr_user: "repeat('🛩', 256)" },
  {
    key: "a user of 257 code points",
    project_id: UUID,
    curr_user: "repeat('a', 257)",
    rejectedBy: LENGTH,
  },
  { key: "an empty user", project_id: UUID, curr_user: "''", rejectedBy: LENGTH },
  { key: "no product", project_id: "null", curr_user: "'a'", rejectedBy: "project_id" },
  {
    key: "a product that is no UUID",
    project_id: "'6f3b1d52'",
    curr_user: "'a'",
    rejectedBy: "type uuid",
  },
];

for (const { key, project_id, curr_user, rejectedBy } of KEYS) {
  const verb = rejectedBy ? "rejects" : "accepts";
  Deno.test(`table: it ${verb} a key with ${key}`, async () => {
    const insert = `insert into public.activation_keys (project_id, curr_user)
      values (${project_id}, ${curr_user})`;
    if (!rejectedBy) return void await database.exec(insert);
    await assertRejects(() => database.exec(insert), Error, rejectedBy);
    Deno.exitCode = 0; // After an error, PGlite sets it, and Deno would fail the test.
  });
}

Deno.test("table: names are compared byte by byte", async () => {
  const { rows } = await database.query(`select collation_name
    from information_schema.columns where column_name = 'curr_user'`);
  assertEquals(rows, [{ collation_name: "C" }]);
});

Deno.test("table: at 100,000 keys the lookup reads only the index", async () => {
  await database.exec(`
    insert into public.activation_keys (project_id, curr_user)
    select '${LOOKUP.project_id}', case when number % 4 > 0 then 'Pilot ' || number end
    from generate_series(1, 100000) as number;
    insert into public.activation_keys (project_id, curr_user)
    values ('${LOOKUP.project_id}', '${LOOKUP.curr_user}')`);
  await database.exec("vacuum analyze public.activation_keys");
  // As the role of the secret key.
  const explained = await database.exec(`set local role service_role;
    explain (analyze, buffers, costs off) ${LOOKUP.sql}`);
  const plan = JSON.stringify(explained);
  assertMatch(plan, /Only Scan using activation_keys_lookup_idx .*rows=1\b/);
  assertMatch(plan, /Heap Fetches: 0\b/);
  assert(!plan.includes("Filter:"), plan);
});
