/**
 * The code on `docs/operate.md` and in `README.md`, run as it stands there. A block is found by its
 * language and the heading above it, and its placeholders, such as `<key>`, are filled in. So who
 * edits a heading edits it here, too. SQL runs on a PostgreSQL of its own, and requests are sent to
 * the service under test.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

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
const KEY_UNUSED: Row = {
  id: KEY,
  project_id: PRODUCT,
  curr_user: null,
  created_at: new Date(TIME),
};
const KEY_USED: Row = { ...KEY_UNUSED, curr_user: NAME };
/** The name of its user only looks like `<name>`. */
const KEY_USED_BY_ANOTHER: Row = { ...KEY_UNUSED, curr_user: "O'DEA" };
const KEY_OF_OTHER_PRODUCT: Row = { ...KEY_UNUSED, project_id: OTHER_PRODUCT };

/** Rows of other keys: of the product `<product>` and the time `<time>`, so of the same batch. */
const BESSIES_KEY: Row = { ...KEY_UNUSED, id: OTHER_KEYS[0]!, curr_user: "Bessie" };
const UNUSED_KEY: Row = { ...KEY_UNUSED, id: OTHER_KEYS[1]! };
/** As that one, but issued at another time. */
const OLD_UNUSED_KEY: Row = { ...UNUSED_KEY, created_at: new Date("2025-12-31") };

/** What each statement prints, and which rows the table has before and after it. */
const STATEMENTS: {
  heading: string;
  when: string;
  before: Row[];
  prints: object[];
  /** Where a statement changes rows: what they are afterwards. */
  after?: Partial<Row>[];
}[] = [
  {
    heading: "List the batches of a product",
    when: "there are two, and a key of another product",
    before: [KEY_OF_OTHER_PRODUCT, BESSIES_KEY, OLD_UNUSED_KEY],
    prints: [
      { created_at: new Date(TIME), keys: 1, used: 1 },
      { created_at: new Date("2025-12-31"), keys: 1, used: 0 },
    ],
  },
  {
    heading: "List the keys of a batch",
    when: "there are keys of another product and of another time",
    before: [KEY_OF_OTHER_PRODUCT, BESSIES_KEY, OLD_UNUSED_KEY],
    prints: [BESSIES_KEY],
  },
  {
    heading: "Find the keys of a name",
    when: "another name looks like it",
    before: [KEY_USED_BY_ANOTHER, { ...BESSIES_KEY, curr_user: NAME }],
    prints: [{ id: BESSIES_KEY.id, project_id: PRODUCT, created_at: new Date(TIME) }],
  },
  {
    heading: "Compare a key and a name with the row",
    when: "key, name and product belong together",
    before: [KEY_USED, BESSIES_KEY],
    prints: [{ curr_user: NAME, same_name: true, same_product: true }],
  },
  {
    heading: "Compare a key and a name with the row",
    when: "another user has used the key",
    before: [KEY_USED_BY_ANOTHER],
    prints: [{ curr_user: "O'DEA", same_name: false, same_product: true }],
  },
  {
    heading: "Compare a key and a name with the row",
    when: "the key is unused, and of another product",
    before: [KEY_OF_OTHER_PRODUCT],
    prints: [{ curr_user: null, same_name: null, same_product: false }],
  },
  {
    heading: "Record the first use by hand",
    when: "the key is unused",
    before: [KEY_UNUSED, UNUSED_KEY],
    prints: [{ id: KEY, curr_user: NAME }],
    after: [KEY_USED, UNUSED_KEY],
  },
  {
    heading: "Record the first use by hand",
    when: "this user has used the key",
    before: [KEY_USED],
    prints: [{ id: KEY, curr_user: NAME }],
  },
  {
    heading: "Record the first use by hand",
    when: "another user has used the key",
    before: [KEY_USED_BY_ANOTHER],
    prints: [],
  },
  {
    heading: "Record the first use by hand",
    when: "the key is of another product",
    before: [KEY_OF_OTHER_PRODUCT],
    prints: [],
  },
  {
    heading: "Move a key",
    when: "another user has used it",
    before: [KEY_USED_BY_ANOTHER, BESSIES_KEY],
    prints: [{ name_was: "O'DEA", name_is: NAME }],
    after: [KEY_USED, BESSIES_KEY],
  },
  {
    heading: "Revoke a key",
    when: "there is another key",
    before: [KEY_UNUSED, BESSIES_KEY],
    prints: [KEY_UNUSED],
    after: [BESSIES_KEY],
  },
  {
    heading: "Revoke the unused keys of a batch",
    when: "others are used, of another product, or of another time",
    before: [KEY_UNUSED, BESSIES_KEY, OLD_UNUSED_KEY],
    prints: [KEY_UNUSED],
    after: [BESSIES_KEY, OLD_UNUSED_KEY],
  },
  {
    heading: "Revoke the unused keys of a batch",
    when: "the unused key is of another product",
    before: [KEY_OF_OTHER_PRODUCT],
    prints: [],
  },
  {
    heading: "Put a revoked key back",
    when: "there is another key",
    before: [BESSIES_KEY],
    prints: [{ id: KEY, project_id: PRODUCT, curr_user: NAME }],
    after: [{ id: KEY, project_id: PRODUCT, curr_user: NAME }, BESSIES_KEY],
  },
  {
    heading: "Issue the key of the monitor",
    when: "there is no key",
    before: [],
    prints: [{ project_id: PRODUCT, curr_user: NAME }],
    after: [{ project_id: PRODUCT, curr_user: NAME }],
  },
];

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

interface Values {
  key?: string;
  name?: string;
  product?: string;
  secretKey?: string;
}

/**
 * Fills in placeholders, and puts the address of the service under test in the place of
 * `https://<ref>.supabase.co`, `https://<service>` and `http://127.0.0.1:54321`.
 */
function fillIn(code: string, values: Values = {}) {
  const { key = KEY, name = NAME, product = PRODUCT } = values;
  const { secretKey = service.settings.SECRET_KEY } = values;
  return code.replaceAll("<product>", product)
    .replaceAll("<time>", TIME)
    .replaceAll("<key>", () => key) // As a function, because `$&` in a text would be a pattern.
    .replaceAll("<name>", () => name)
    .replaceAll(/<secret key>|<SECRET_KEY>/g, secretKey)
    .replace(/https?:..(<ref>.supabase.co|<service>|127.0.0.1:54321)/, service.settings.API_URL);
}

/** What a customer sent as a key. In apostrophes, PostgreSQL would take a part of it for SQL. */
const NO_KEY = "00000000-0000-0000-0000-000000000000' or true --";

for (const { heading, when, before, prints, after } of STATEMENTS) {
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
    await tryToExec(fillIn(statement, { key: NO_KEY }));
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
  const tested = new Set([...STATEMENTS.map(({ heading }) => heading), ...TESTED_BELOW]);
  assertEquals(headings.toSorted(), [...tested].sort());
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

/** How a key differs between an export (`was`) and the table (`now`), and what is printed of it. */
const DIFFERENCES: { when: string; was: Row[]; now: Row[]; prints: object[] }[] = [
  { when: "is the same", was: [KEY_USED], now: [KEY_USED], prints: [] },
  {
    when: "is missing in the table",
    was: [KEY_UNUSED],
    now: [],
    prints: [{ product_was: PRODUCT, product_is: null, name_was: null, name_is: null }],
  },
  {
    when: "is new in the table",
    was: [],
    now: [KEY_UNUSED],
    prints: [{ product_was: null, product_is: PRODUCT, name_was: null, name_is: null }],
  },
  {
    when: "has another name",
    was: [KEY_USED],
    now: [KEY_USED_BY_ANOTHER],
    prints: [{ product_was: PRODUCT, product_is: PRODUCT, name_was: NAME, name_is: "O'DEA" }],
  },
  {
    when: "is of another product",
    was: [KEY_UNUSED],
    now: [KEY_OF_OTHER_PRODUCT],
    prints: [{ product_was: PRODUCT, product_is: OTHER_PRODUCT, name_was: null, name_is: null }],
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
  await begin([KEY_USED_BY_ANOTHER]);
  const statement = await readStatement("Bring rows back");
  assertRows(await exec(withExport(statement, [KEY_USED, BESSIES_KEY])), [BESSIES_KEY], "prints");
  assertEquals(await readTable(), [KEY_USED_BY_ANOTHER, BESSIES_KEY]);
});

/** What the first curl under a heading prints. The user `monitor` has a key of `<product>`. */
const REQUESTS: { heading: string; when: string; values: Values; prints: string }[] = [
  { heading: "Deploy", when: "it is sent as it stands", values: {}, prints: "HTTP/1.1 499" },
  {
    heading: "Watch",
    when: "<name> has a key of <product>",
    values: { name: "monitor" },
    prints: "HTTP/1.1 200",
  },
  {
    heading: "The secret key",
    when: "<secret key> was deleted",
    values: { secretKey: "sb_secret_deleted" },
    prints: "HTTP/1.1 401",
  },
];

for (const { heading, when, values, prints } of REQUESTS) {
  Deno.test(`requests: curl under "${heading}", when ${when} → ${prints}`, async () => {
    await using monitor = await service.issueKeys(["monitor"]);
    const blocks = await readBlocks(OPERATE, "sh", heading);
    const curl = blocks.find((block) => block.startsWith("curl"))!;
    const { stdout } = await runLine(fillIn(curl, { product: monitor.project_id, ...values }));
    assertStringIncludes(stdout, prints);
  });
}

Deno.test('requests: curl under "Issue keys", when it is sent twice → 201, and then 409', async () => {
  const key = crypto.randomUUID();
  const blocks = await readBlocks(OPERATE, "sh", "Issue keys");
  const curl = fillIn(blocks.find((block) => block.startsWith("curl"))!, { key });
  const [first, second] = [await runLine(curl), await runLine(curl)];
  await service.changeKeys("DELETE", `?id=eq.${key}`);
  assertStringIncludes(first.stdout, "HTTP/1.1 201");
  assertStringIncludes(second.stdout, "HTTP/1.1 409");
});

const [PATCH = "", GET = ""] = await readBlocks(OPERATE, "http", "The first use");

/** Sends one of the page's two requests. Returns the rows that come back. */
async function sendBlock(block: string, key: string, product: string, name: string) {
  // A name stands between the quotation marks of JSON.
  const jsonName = JSON.stringify(name).slice(1, -1);
  const filled = fillIn(block, { key, product, name: jsonName });
  const [head = "", body = null] = filled.split("\n\n");
  const [request = "", ...headers] = head.split("\n");
  const [method = "", url = ""] = request.split(" ");
  const response = await fetch(url, {
    method,
    headers: headers.map((header) => header.split(": ") as [string, string]),
    body,
  });
  assertEquals(response.status, 200);
  const rows: { curr_user?: string }[] = await response.json();
  return rows;
}

/** Records the first use of a key with the two requests, as the page says. */
async function recordFirstUse(key: string, product: string, name: string): Promise<boolean> {
  const changed = await sendBlock(PATCH, key, product, name);
  if (changed.length === 1) return true;
  const [row] = await sendBlock(GET, key, product, name);
  return row?.curr_user === name;
}

const NAMES = [
  " a",
  "null",
  "true",
  "{a}",
  `a,b.c:d(e)"f"\\g`,
  "100%_*",
  "is.null",
  "O'Dea",
  "小雪",
  // In a filter of the address, this name would find used keys, too.
  "x,curr_user.not.is.null",
];

for (const name of NAMES) {
  Deno.test(`first use: ${name} gets an unused key, gets it again, and gets no other key`, async () => {
    await using product = await service.issueKeys([null, "Bessie"]);
    const { keys: [unused, bessies], project_id } = product;
    assertEquals(await recordFirstUse(unused!.id, OTHER_PRODUCT, name), false, "wrong product");
    assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "at first");
    assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "again");
    assertEquals(await recordFirstUse(unused!.id, project_id, "Bessie"), false, "another user");
    assertEquals(await recordFirstUse(bessies!.id, project_id, name), false, "Bessie's key");
    // The function finds both users afterwards, so Bessie's key is still hers.
    await assertResponse(service.ask(project_id, name), ACTIVE);
    await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
    await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
  });
}

// The unused key of `supabase/seed.sql`. Each start of the local stack has it anew.
Deno.test("README.md: a user gets 499, the first use of a key is recorded, and the user gets 200", async () => {
  const blocks = await readBlocks("README.md", "sh", "Run it");
  const [ask = "", record = ""] = blocks.filter((block) => block.startsWith("curl")).map((b) =>
    fillIn(b)
  );
  assertStringIncludes((await runLine(ask)).stdout, "HTTP/1.1 499");
  const { stdout } = await runLine(record);
  assertStringIncludes(stdout, '[{"id":"c47483a5-3d7d-49ae-a026-b9fbe3b175b1"}]');
  assertStringIncludes((await runLine(ask)).stdout, '{"success":true}');
});
