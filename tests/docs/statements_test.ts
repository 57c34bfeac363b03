/**
 * The SQL on `docs/operate.md`, run as it stands there on a PostgreSQL of its own. A statement is
 * found by the heading above it, and its placeholders, such as `<key>`, are filled in. So who edits
 * a heading edits it here, too.
 */
import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { readBlocks, readPage } from "../support/pages.ts";

const OPERATE = "docs/operate.md";

// What is filled in for `<product>`, `<key>`, `<name>` and `<time>`.
const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
const NAME = "O'Dea";
const TIME = "2026-01-02T03:04:05.678Z";

const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
const OTHER_KEYS = ["2b7e4c80-91d5-4f36-a0c8-6e13d9f52742", "2b7e4c80-91d5-4f36-a0c8-6e13d9f52743"];

const COLUMNS = "id, project_id, curr_user, created_at";
/** A row of the table: an activation key. */
interface Row {
  id: string;
  project_id: string;
  curr_user: string | null;
  created_at: Date;
}

/** The row of the key `<key>`, which is one of these. */
const KEY_UNUSED = { id: KEY, project_id: PRODUCT, curr_user: null, created_at: new Date(TIME) };
const KEY_USED: Row = { ...KEY_UNUSED, curr_user: NAME };
/** Used by another user, whose name looks like `<name>`. */
const KEY_TAKEN: Row = { ...KEY_UNUSED, curr_user: "O'DEA" };
const KEY_OF_OTHER_PRODUCT: Row = { ...KEY_UNUSED, project_id: OTHER_PRODUCT };

/** Rows of other keys of `<product>`: two of `<time>`, so of the same batch, and an older one. */
const BESSIES_KEY: Row = { ...KEY_UNUSED, id: OTHER_KEYS[0]!, curr_user: "Bessie" };
const SPARE_KEY: Row = { ...KEY_UNUSED, id: OTHER_KEYS[1]! };
const OLD_KEY: Row = { ...SPARE_KEY, created_at: new Date("2025-12-31") };

/** What a statement prints, and which rows the table has before and after it. */
interface Case {
  when: string;
  before: Row[];
  prints: object[];
  /** Where the statement changes rows: what they are afterwards. */
  after?: Partial<Row>[];
}

const { created_at } = KEY_UNUSED;
const ISSUED = { project_id: PRODUCT, curr_user: NAME };
const RECORDED = { id: KEY, curr_user: NAME };

/** The statements by their headings. */
const STATEMENTS: Record<string, Case[]> = {
  "List the batches of a product": [{
    when: "there are two, and a key of another product",
    before: [KEY_OF_OTHER_PRODUCT, BESSIES_KEY, OLD_KEY],
    prints: [
      { created_at, keys: 1, used: 1 },
      { created_at: OLD_KEY.created_at, keys: 1, used: 0 },
    ],
  }],
  "List the keys of a batch": [{
    when: "there are keys of another product and of another time",
    before: [KEY_OF_OTHER_PRODUCT, BESSIES_KEY, OLD_KEY],
    prints: [BESSIES_KEY],
  }],
  "Find the keys of a name": [{
    when: "another name looks like it",
    before: [KEY_TAKEN, { ...SPARE_KEY, curr_user: NAME }],
    prints: [{ id: SPARE_KEY.id, project_id: PRODUCT, created_at }],
  }],
  "Compare a key and a name with the row": [
    {
      when: "key, name and product belong together",
      before: [KEY_USED, BESSIES_KEY],
      prints: [{ curr_user: NAME, same_name: true, same_product: true }],
    },
    {
      when: "another user has used the key",
      before: [KEY_TAKEN],
      prints: [{ curr_user: "O'DEA", same_name: false, same_product: true }],
    },
    {
      when: "the key is unused, and of another product",
      before: [KEY_OF_OTHER_PRODUCT],
      prints: [{ curr_user: null, same_name: null, same_product: false }],
    },
  ],
  "Record the first use by hand": [
    {
      when: "the key is unused",
      before: [KEY_UNUSED, SPARE_KEY],
      prints: [RECORDED],
      after: [KEY_USED, SPARE_KEY],
    },
    { when: "this user has used the key", before: [KEY_USED], prints: [RECORDED] },
    { when: "another user has used the key", before: [KEY_TAKEN], prints: [] },
    { when: "the key is of another product", before: [KEY_OF_OTHER_PRODUCT], prints: [] },
  ],
  "Move a key": [{
    when: "another user has used it",
    before: [KEY_TAKEN, BESSIES_KEY],
    prints: [{ name_was: "O'DEA", name_is: NAME }],
    after: [KEY_USED, BESSIES_KEY],
  }],
  "Revoke a key": [{
    when: "there is another key",
    before: [KEY_USED, BESSIES_KEY],
    prints: [KEY_USED],
    after: [BESSIES_KEY],
  }],
  "Revoke the unused keys of a batch": [
    {
      when: "another key is used, and one is of another time",
      before: [KEY_UNUSED, BESSIES_KEY, OLD_KEY],
      prints: [KEY_UNUSED],
      after: [BESSIES_KEY, OLD_KEY],
    },
    { when: "the unused key is of another product", before: [KEY_OF_OTHER_PRODUCT], prints: [] },
  ],
  "Put a revoked key back": [{
    when: "there is another key",
    before: [BESSIES_KEY],
    prints: [{ ...RECORDED, project_id: PRODUCT }],
    after: [{ ...RECORDED, project_id: PRODUCT }, BESSIES_KEY],
  }],
  "Issue the key of the monitor": [
    { when: "there is no key", before: [], prints: [ISSUED], after: [ISSUED] },
  ],
};

/** Headings of the statements that have tests of their own, below. */
const TESTED_BELOW = [
  "Give the grants back",
  "Compare the table with an export",
  "Bring rows back",
];

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

/** Runs SQL, and returns the rows of the last statement. */
const exec = async (sql: string): Promise<object[]> =>
  (await database.exec(sql)).at(-1)?.rows ?? [];

/** Begins a transaction in which the table has these rows alone. */
async function begin(rows: Row[]) {
  await exec("rollback; begin; delete from public.activation_keys");
  for (const row of rows) {
    const values = [row.id, row.project_id, row.curr_user, row.created_at];
    const insert = `insert into public.activation_keys (${COLUMNS}) values ($1, $2, $3, $4)`;
    await database.query(insert, values);
  }
}

/** Runs SQL that may fail. If it fails, it changes nothing. */
async function tryToExec(sql: string) {
  await exec("savepoint before_statement");
  await exec(sql).catch(async () => {
    Deno.exitCode = 0; // PGlite sets it after an error, and Deno would fail the test.
    await exec("rollback to savepoint before_statement");
  });
}

const readTable = () => exec(`select ${COLUMNS} from public.activation_keys order by id`);

/**
 * Fails unless there are these rows, with these values. Values that are not expected, such as a new
 * id, are not compared.
 */
function assertRows(actual: object[], expected: object[], message: string) {
  const known = actual.map((row, nth) => {
    const names = Object.keys(expected[nth] ?? row);
    return Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
  });
  assertEquals(known, expected, message);
}

/** Reads the one block of SQL under a heading. */
async function readStatement(heading: string): Promise<string> {
  const [statement, ...others] = await readBlocks(OPERATE, "sql", heading);
  assert(statement && others.length === 0, `one statement under "${heading}"`);
  return statement;
}

/** Fills in what the page lets its reader replace. */
const fillIn = (sql: string, key = KEY) =>
  sql.replaceAll("<product>", PRODUCT)
    .replaceAll("<time>", TIME)
    .replaceAll("<key>", key)
    .replaceAll("<name>", NAME);

/** What a customer sent as a key. In apostrophes, PostgreSQL would take a part of it for SQL. */
const NO_KEY = "00000000-0000-0000-0000-000000000000' or true --";

const cases = Object.entries(STATEMENTS)
  .flatMap(([heading, cases]) => cases.map((one) => ({ heading, ...one })));
for (const { heading, when, before, prints, after } of cases) {
  const statement = await readStatement(heading);
  const result = `rows printed: ${prints.length}, and ${after ? "the table" : "nothing"} changes`;
  Deno.test(`SQL: ${heading}, when ${when} → ${result}`, async () => {
    await begin(before);
    assertRows(await exec(fillIn(statement)), prints, "prints");
    assertRows(await readTable(), after ?? before, "the table");
  });
  if (!after) continue;

  Deno.test(`SQL: ${heading}, with its placeholders left in → nothing changes`, async () => {
    await begin(before);
    await tryToExec(statement);
    assertEquals(await readTable(), before);
  });
  if (!statement.includes("<key>")) continue;

  Deno.test(`SQL: ${heading}, with the key ${NO_KEY} → nothing changes`, async () => {
    await begin(before);
    await tryToExec(fillIn(statement, NO_KEY));
    assertEquals(await readTable(), before);
  });
}

// A heading with two statements would be listed twice, and one without a test not at all.
Deno.test("SQL: each statement has a heading of its own, and a test", async () => {
  const headings: string[] = [];
  for (const section of (await readPage(OPERATE)).split(/^#+ /m)) {
    const statements = section.split("```sql").length - 1;
    const [heading = ""] = section.split("\n");
    headings.push(...Array(statements).fill(heading));
  }
  assertEquals(headings.toSorted(), [...Object.keys(STATEMENTS), ...TESTED_BELOW].sort());
});

Deno.test("SQL: Give the grants back, when the secret key's role has none → that role reads the table", async () => {
  await begin([KEY_USED]);
  await exec(`revoke all on table public.activation_keys from service_role;
    revoke usage on schema public from service_role, public;`);
  await exec(await readStatement("Give the grants back"));
  await exec("set local role service_role");
  assertEquals(await readTable(), [KEY_USED]);
});

/** Fills in an export that has these rows. */
const withExport = (statement: string, rows: Row[]) =>
  statement.replace("<rows>", () => JSON.stringify(rows));

/** Of a key in an export (`was`) and in the table (`now`): the names that are printed, if any. */
const DIFFERENCES: { when: string; was: Row[]; now: Row[]; prints: object[] }[] = [
  { when: "is the same", was: [KEY_USED], now: [KEY_USED], prints: [] },
  { when: "is missing in the table", was: [KEY_USED], now: [], prints: [{ name_was: NAME }] },
  { when: "is new in the table", was: [], now: [KEY_USED], prints: [{ name_is: NAME }] },
  {
    when: "has another name",
    was: [KEY_USED],
    now: [KEY_TAKEN],
    prints: [{ name_was: NAME, name_is: "O'DEA" }],
  },
  {
    when: "is of another product",
    was: [KEY_UNUSED],
    now: [KEY_OF_OTHER_PRODUCT],
    prints: [{ product_was: PRODUCT, product_is: OTHER_PRODUCT }],
  },
];

for (const { when, was, now, prints } of DIFFERENCES) {
  Deno.test(`SQL: Compare the table with an export, when a key ${when} → rows printed: ${prints.length}`, async () => {
    await begin(now);
    const statement = await readStatement("Compare the table with an export");
    assertRows(await exec(withExport(statement, was)), prints, "prints");
  });
}

Deno.test("SQL: Bring rows back → a missing row comes back whole, and others stay as they are", async () => {
  await begin([KEY_TAKEN]);
  const statement = await readStatement("Bring rows back");
  assertRows(await exec(withExport(statement, [KEY_USED, BESSIES_KEY])), [BESSIES_KEY], "prints");
  assertEquals(await readTable(), [KEY_TAKEN, BESSIES_KEY]);
});
