/**
 * The SQL on `docs/operate.md`, run as it stands there on a PostgreSQL of its own. A statement is
 * found by the heading above it, and its placeholders, `<project_id>` and `<created_at>`, are filled
 * in. So who edits a heading edits it here, too.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { readBlocks } from "../support/pages.ts";

/** What is filled in. */
const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const CREATED_AT = "2026-01-02T03:04:05.678Z";

/** Rows of the table: two keys of that batch, one of an older batch, and one of another add-on. */
const USED = {
  id: "00000000-0000-0000-0000-000000000001",
  project_id: PROJECT_ID,
  curr_user: "Amelia" as string | null,
  created_at: new Date(CREATED_AT),
};
const UNUSED = { ...USED, id: "00000000-0000-0000-0000-000000000002", curr_user: null };
const OLDER = {
  ...UNUSED,
  id: "00000000-0000-0000-0000-000000000003",
  created_at: new Date("2025-12-31"),
};
const OTHER_ADD_ONS = {
  ...UNUSED,
  id: "00000000-0000-0000-0000-000000000004",
  project_id: "b41c7e08-52d9-4a63-8e1f-7d90ac35b216",
};
const ALL = [USED, UNUSED, OLDER, OTHER_ADD_ONS];

/** What a statement prints, and which rows it leaves in the table, which has all of these before. */
const STATEMENTS = [
  {
    heading: "List the batches",
    // A single key is no batch.
    prints: [{ created_at: USED.created_at, keys: 2, used: 1 }],
    leaves: ALL,
  },
  { heading: "List the keys of a batch", prints: [USED, UNUSED], leaves: ALL },
  {
    heading: "Revoke the unused keys of a batch",
    prints: [UNUSED],
    leaves: [USED, OLDER, OTHER_ADD_ONS],
  },
];

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

/** Runs SQL, and returns the rows of the last statement. */
const exec = async (sql: string): Promise<object[]> =>
  (await database.exec(sql)).at(-1)?.rows ?? [];

const readTable = () => exec("select * from public.activation_keys order by id");

/** Begins a transaction in which the table has all rows, and no other. */
async function begin() {
  await exec("rollback; begin; delete from public.activation_keys");
  await database.query(
    "insert into public.activation_keys select * from json_populate_recordset(null::public.activation_keys, $1)",
    [JSON.stringify(ALL)],
  );
}

/** Reads the first block of SQL under a heading. */
async function readStatement(heading: string): Promise<string> {
  const [statement = ""] = await readBlocks("docs/operate.md", "sql", heading);
  return statement;
}

for (const { heading, prints, leaves } of STATEMENTS) {
  Deno.test(`SQL: ${heading} → rows printed: ${prints.length}, and left: ${leaves.length}`, async () => {
    await begin();
    const statement = await readStatement(heading);
    const filledIn = statement.replaceAll("<project_id>", PROJECT_ID)
      .replaceAll("<created_at>", CREATED_AT);
    assertEquals(await exec(filledIn), prints, "prints");
    assertEquals(await readTable(), leaves, "the table");
  });
}

Deno.test("SQL: Revoke the unused keys of a batch, with its placeholders left in → nothing changes", async () => {
  await begin();
  await exec("savepoint before_statement");
  const statement = await readStatement("Revoke the unused keys of a batch");
  await assertRejects(() => exec(statement), Error, "invalid input syntax for type uuid");
  Deno.exitCode = 0; // PGlite sets it after an error, and Deno would fail the test.
  await exec("rollback to savepoint before_statement");
  assertEquals(await readTable(), ALL);
});

// A block without a test, or a second one under a heading, would change this number.
Deno.test("SQL: the page has five statements, and each one is tested here", async () => {
  assertEquals((await readBlocks("docs/operate.md", "sql")).length, 5);
});

Deno.test("SQL: Give the grants back, when the secret key's role has none → that role reads the table", async () => {
  await begin();
  await exec(`revoke all on table public.activation_keys from service_role;
    revoke usage on schema public from service_role, public;`);
  await exec(await readStatement("Give the grants back"));
  await exec("set local role service_role");
  assertEquals(await readTable(), ALL);
});

Deno.test("SQL: A table of that name that is there already → its keys are copied, and an empty name becomes null", async () => {
  await begin();
  await exec(`delete from public.activation_keys;
    create table public.activation_keys_before (id uuid, created_at timestamptz, project_id uuid,
      curr_user varchar(99));
    insert into public.activation_keys_before values
      ('${USED.id}', '${CREATED_AT}', '${PROJECT_ID}', 'Amelia'),
      ('${UNUSED.id}', '${CREATED_AT}', '${PROJECT_ID}', '')`);
  await exec(await readStatement("A table of that name that is there already"));
  assertEquals(await readTable(), [USED, UNUSED]);
});
