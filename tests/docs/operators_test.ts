/**
 * The code on `docs/operate.md` and in `README.md`, run as it stands there. A block is found by its
 * language and the heading above it, and its placeholders, such as `<key>`, are filled in. So who
 * edits a heading edits it here, too. SQL runs on a PostgreSQL of its own, and requests are sent to
 * the service under test.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { assertResponse } from "../support/requests.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import * as service from "../support/service_under_test.ts";

const OPERATE = "docs/operate.md";

// What is filled in for `<product>`, `<key>`, `<name>` and `<time>`.
const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
const NAME = "O'Dea";
const TIME = "2026-01-02T03:04:05.678Z";

/** A row of the table. */
interface Row {
  id: string;
  project_id: string;
  curr_user: string | null;
  created_at: Date;
}
const UNUSED_ROW: Row = {
  id: KEY,
  project_id: PRODUCT,
  curr_user: null,
  created_at: new Date(TIME),
};
const USED_ROW: Row = { ...UNUSED_ROW, curr_user: NAME };
/** Used by somebody whose name only looks like `<name>`. */
const ANOTHER_USERS_ROW: Row = { ...UNUSED_ROW, curr_user: "O'DEA" };
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
const OTHER_PRODUCTS_ROW: Row = { ...UNUSED_ROW, project_id: OTHER_PRODUCT };

// Rows beside that of the key `<key>`.
const BESSIES_ROW: Row = { ...USED_ROW, id: KEY.replace(/.$/, "2"), curr_user: "Bessie" };
const SECOND_UNUSED_ROW: Row = { ...UNUSED_ROW, id: KEY.replace(/.$/, "3") };
/** Unused and of the product, but issued at another time than `<time>`. */
const ROW_OF_OTHER_TIME: Row = {
  ...UNUSED_ROW,
  id: KEY.replace(/.$/, "4"),
  created_at: new Date("2025-12-31"),
};

/** What each statement prints, and which rows the table has before and after it. */
const STATEMENTS: {
  heading: string;
  when: string;
  before: Row[];
  /** By default, as before. */
  after?: Partial<Row>[];
  prints: object[];
}[] = [
  {
    heading: "List the batches of a product",
    when: "there are two batches, and a key of another product",
    before: [OTHER_PRODUCTS_ROW, BESSIES_ROW, SECOND_UNUSED_ROW, ROW_OF_OTHER_TIME],
    prints: [
      { created_at: new Date(TIME), keys: 2, used: 1 },
      { created_at: ROW_OF_OTHER_TIME.created_at, keys: 1, used: 0 },
    ],
  },
  {
    heading: "List the keys of a batch",
    when: "there are keys of another product and of another time",
    before: [OTHER_PRODUCTS_ROW, BESSIES_ROW, SECOND_UNUSED_ROW, ROW_OF_OTHER_TIME],
    prints: [BESSIES_ROW, SECOND_UNUSED_ROW],
  },
  {
    heading: "Find the keys of a name",
    when: "another user's name looks like it",
    before: [USED_ROW, { ...ANOTHER_USERS_ROW, id: BESSIES_ROW.id }],
    prints: [{ id: KEY, project_id: PRODUCT, created_at: new Date(TIME) }],
  },
  {
    heading: "Compare a key and a name with the row",
    when: "key, name and product belong together",
    before: [USED_ROW, BESSIES_ROW],
    prints: [{ curr_user: NAME, same_name: true, same_product: true }],
  },
  {
    heading: "Compare a key and a name with the row",
    when: "another user has used the key",
    before: [ANOTHER_USERS_ROW],
    prints: [{ curr_user: "O'DEA", same_name: false, same_product: true }],
  },
  {
    heading: "Compare a key and a name with the row",
    when: "the key is unused, and of another product",
    before: [OTHER_PRODUCTS_ROW],
    prints: [{ curr_user: null, same_name: null, same_product: false }],
  },
  {
    heading: "Record the first use by hand",
    when: "the key is unused",
    before: [UNUSED_ROW, BESSIES_ROW, SECOND_UNUSED_ROW],
    after: [USED_ROW, BESSIES_ROW, SECOND_UNUSED_ROW],
    prints: [{ id: KEY, curr_user: NAME }],
  },
  {
    heading: "Record the first use by hand",
    when: "this user has used the key",
    before: [USED_ROW],
    prints: [{ id: KEY, curr_user: NAME }],
  },
  {
    heading: "Record the first use by hand",
    when: "another user has used the key",
    before: [ANOTHER_USERS_ROW],
    prints: [],
  },
  {
    heading: "Record the first use by hand",
    when: "the key is of another product",
    before: [OTHER_PRODUCTS_ROW],
    prints: [],
  },
  {
    heading: "Move a key",
    when: "another user has used it",
    before: [ANOTHER_USERS_ROW, BESSIES_ROW],
    after: [USED_ROW, BESSIES_ROW],
    prints: [{ name_was: "O'DEA", name_is: NAME }],
  },
  {
    heading: "Revoke a key",
    when: "there is another key",
    before: [USED_ROW, BESSIES_ROW],
    after: [BESSIES_ROW],
    prints: [USED_ROW],
  },
  {
    heading: "Revoke the unused keys of a batch",
    when: "others are used, of another product, or of another time",
    before: [OTHER_PRODUCTS_ROW, BESSIES_ROW, SECOND_UNUSED_ROW, ROW_OF_OTHER_TIME],
    after: [OTHER_PRODUCTS_ROW, BESSIES_ROW, ROW_OF_OTHER_TIME],
    prints: [SECOND_UNUSED_ROW],
  },
  {
    heading: "Put a revoked key back",
    when: "there is another key",
    before: [BESSIES_ROW],
    after: [{ id: KEY, project_id: PRODUCT, curr_user: NAME }, BESSIES_ROW],
    prints: [{ id: KEY, project_id: PRODUCT, curr_user: NAME }],
  },
  {
    heading: "Issue the key of the monitor",
    when: "there is no key",
    before: [],
    after: [{ project_id: PRODUCT, curr_user: NAME }],
    prints: [{ project_id: PRODUCT, curr_user: NAME }],
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
    await database.query("insert into public.activation_keys values ($1, $2, $3, $4)", values);
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

const readTable = () => exec("select * from public.activation_keys order by id");

/** Fails unless rows have these values. Others, such as a new id, are not compared. */
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

/** Fills in placeholders. (As a function, because `$&` in a name would be a pattern.) */
function fillIn(code: string, values: { key?: string; name?: string; product?: string } = {}) {
  const { key = KEY, name = NAME, product = PRODUCT } = values;
  return code.replaceAll("<product>", product)
    .replaceAll("<time>", TIME)
    .replaceAll("<key>", () => key)
    .replaceAll("<name>", () => name)
    .replaceAll(/<secret key>|<SECRET_KEY>/g, service.settings.SECRET_KEY)
    .replace(/https?:..(<ref>.supabase.co|<service>|127.0.0.1:54321)/, service.settings.API_URL);
}

for (const { heading, when, before, after = before, prints } of STATEMENTS) {
  Deno.test(`SQL: ${heading}, when ${when} → printed rows: ${prints.length}`, async () => {
    await begin(before);
    assertRows(await exec(fillIn(await readStatement(heading))), prints, "prints");
    assertRows(await readTable(), after, "the table");
  });
}

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

/** The statements that change rows, and whether they store the name `<name>`, or look for a key. */
const CHANGES = [
  { heading: "Record the first use by hand", takesKey: true, storesName: true },
  { heading: "Move a key", takesKey: true, storesName: true },
  { heading: "Revoke a key", takesKey: true, storesName: false },
  { heading: "Put a revoked key back", takesKey: true, storesName: false },
  { heading: "Revoke the unused keys of a batch", takesKey: false, storesName: false },
  { heading: "Issue the key of the monitor", takesKey: false, storesName: false },
];

/** Texts of a customer that would do harm if PostgreSQL took a part of them for SQL. */
const PASTED = ["00000000-0000-0000-0000-000000000000' or true --", "a$&b$$c'); delete from x; --"];

for (const { heading, takesKey, storesName } of CHANGES) {
  Deno.test(`SQL: ${heading}, with its placeholders left in → nothing changes`, async () => {
    await begin([UNUSED_ROW, BESSIES_ROW]);
    await tryToExec(await readStatement(heading));
    assertEquals(await readTable(), [UNUSED_ROW, BESSIES_ROW]);
  });
  for (const text of takesKey ? PASTED : []) {
    Deno.test(`SQL: ${heading}, with the key ${text} → nothing changes`, async () => {
      await begin([UNUSED_ROW, BESSIES_ROW]);
      await tryToExec(fillIn(await readStatement(heading), { key: text }));
      assertEquals(await readTable(), [UNUSED_ROW, BESSIES_ROW]);
    });
  }
  for (const text of storesName ? PASTED : []) {
    Deno.test(`SQL: ${heading}, with the name ${text} → the key has this name`, async () => {
      await begin([UNUSED_ROW, BESSIES_ROW]);
      await exec(fillIn(await readStatement(heading), { name: text }));
      assertEquals(await readTable(), [{ ...UNUSED_ROW, curr_user: text }, BESSIES_ROW]);
    });
  }
}

Deno.test("SQL: Give the grants back, when the secret key's role has none → that role reads the table", async () => {
  await begin([USED_ROW]);
  await exec(`revoke all on table public.activation_keys from service_role;
    revoke usage on schema public from service_role, public;`);
  await exec(await readStatement("Give the grants back"));
  await exec("set local role service_role");
  assertEquals(await readTable(), [USED_ROW]);
});

/** Fills in an export that has these rows. */
const withExport = (statement: string, rows: Row[]) =>
  statement.replace("<rows>", () => JSON.stringify(rows));

Deno.test("SQL: Compare the table with an export → rows that are missing, new, renamed, or of another product", async () => {
  const unchanged = { ...BESSIES_ROW, id: KEY.replace(/.$/, "0") };
  await begin([
    unchanged,
    ANOTHER_USERS_ROW,
    { ...BESSIES_ROW, project_id: OTHER_PRODUCT },
    ROW_OF_OTHER_TIME,
  ]);
  const statement = await readStatement("Compare the table with an export");
  const exported = [unchanged, USED_ROW, BESSIES_ROW, SECOND_UNUSED_ROW];
  assertEquals(await exec(withExport(statement, exported)), [
    { id: KEY, product_was: PRODUCT, product_is: PRODUCT, name_was: NAME, name_is: "O'DEA" },
    {
      id: BESSIES_ROW.id,
      product_was: PRODUCT,
      product_is: OTHER_PRODUCT,
      name_was: "Bessie",
      name_is: "Bessie",
    },
    {
      id: SECOND_UNUSED_ROW.id,
      product_was: PRODUCT,
      product_is: null,
      name_was: null,
      name_is: null,
    },
    {
      id: ROW_OF_OTHER_TIME.id,
      product_was: null,
      product_is: PRODUCT,
      name_was: null,
      name_is: null,
    },
  ]);
});

Deno.test("SQL: Bring rows back → a missing row comes back whole, and others stay as they are", async () => {
  await begin([ANOTHER_USERS_ROW]);
  const statement = await readStatement("Bring rows back");
  assertEquals(await exec(withExport(statement, [USED_ROW, BESSIES_ROW])), [BESSIES_ROW]);
  assertEquals(await readTable(), [ANOTHER_USERS_ROW, BESSIES_ROW]);
});

/** What the first curl under a heading prints. `user` is the user of the key `<key>`. */
const REQUESTS = [
  { heading: "Deploy", user: null, prints: "HTTP/1.1 499" },
  { heading: "Watch", user: "monitor", prints: "HTTP/1.1 200" },
  { heading: "The secret key", user: null, prints: "HTTP/1.1 200" },
];

for (const { heading, user, prints } of REQUESTS) {
  Deno.test(`requests: curl under "${heading}" prints ${prints}`, async () => {
    await using product = await service.issueKeys([user]);
    const blocks = await readBlocks(OPERATE, "sh", heading);
    const curl = blocks.find((block) => block.startsWith("curl"))!;
    const { project_id } = product;
    const { stdout } = await runLine(fillIn(curl, { name: "monitor", product: project_id }));
    assertStringIncludes(stdout, prints);
  });
}

Deno.test('requests: curl under "Issue keys", sent twice → 201, and then 409', async () => {
  const key = crypto.randomUUID();
  const blocks = await readBlocks(OPERATE, "sh", "Issue keys");
  const curl = fillIn(blocks.find((block) => block.startsWith("curl"))!, { key });
  const statuses = [await runLine(curl), await runLine(curl)].map(({ stdout }) =>
    stdout.slice(9, 12)
  );
  await service.changeKeys("DELETE", `?id=eq.${key}`);
  assertEquals(statuses, ["201", "409"]);
});

const [PATCH = "", GET = ""] = await readBlocks(OPERATE, "http", "The first use");

/** Sends one of the two requests. Returns the rows that come back. */
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
  Deno.test(`first use: ${name} gets an unused key, also when asking again, and no used key`, async () => {
    await using product = await service.issueKeys([null, "Bessie"]);
    const { keys: [unused, used], project_id } = product;
    assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "at first");
    assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "again");
    assertEquals(await recordFirstUse(used!.id, project_id, name), false, "a used key");
    assertEquals(await recordFirstUse(unused!.id, OTHER_PRODUCT, name), false, "another product");
    assertEquals(await recordFirstUse(unused!.id, project_id, "Bessie"), false, "another user");
    await assertResponse(service.ask(project_id, name), ACTIVE);
    await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
    await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
  });
}

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
