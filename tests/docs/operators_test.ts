/** The SQL and some of the commands on the pages for operators, and README.md's requests. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PAGES, readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import * as service from "../support/service_under_test.ts";

// What the tests put in the place of <product>, <key>, <name> and <time>.
const PRODUCT = SEEDED.project_id;
const KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
const NAME = "O'Dea";
const TIME = "2026-01-02 03:04:05.678901+00";

/** A row of the table, or of the copy of an export. */
interface Key {
  id: string;
  project_id: string;
  curr_user: string | null;
  /** By default, another time than <time>. */
  created_at?: string;
}

// The row of the key <key>, by its user and its product.
const UNUSED: Key = { id: KEY, project_id: PRODUCT, curr_user: null };
const OF_NAME: Key = { id: KEY, project_id: PRODUCT, curr_user: NAME };
const OF_SIMILAR_NAME: Key = { id: KEY, project_id: PRODUCT, curr_user: "O'DEA" };
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
const OF_OTHER_PRODUCT: Key = { ...UNUSED, project_id: OTHER_PRODUCT };

// The rows of three other keys of the product.
const KEY_2 = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52742";
const KEY_3 = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52743";
const BESSIES_2: Key = { id: KEY_2, project_id: PRODUCT, curr_user: "Bessie" };
const UNUSED_3: Key = { id: KEY_3, project_id: PRODUCT, curr_user: null };
const UNUSED_4: Key = { ...UNUSED_3, id: "2b7e4c80-91d5-4f36-a0c8-6e13d9f52744" };

/** A batch made at <time>: the keys 2 and 3. Two others: of another product, of another time. */
const BATCH_AND_OTHERS: Key[] = [
  { ...OF_OTHER_PRODUCT, created_at: TIME },
  { ...BESSIES_2, created_at: TIME },
  { ...UNUSED_3, created_at: TIME },
  UNUSED_4,
];

/** What the statement under a heading does. */
interface Case {
  when?: string;
  /** SQL that runs before the statement, on the keys that are there before. */
  given?: string;
  /** The keys in the table before, in the order of their ids. New ids come last. */
  before: Key[];
  /** The keys in the copy of an export before. By default, there is no copy. */
  copyBefore?: Key[];
  /** The rows that the statement prints, without their times. */
  prints: object[];
  /** The keys in the table afterwards. By default, as before. */
  after?: Key[];
  /** The keys in the copy afterwards. By default, as before. */
  copyAfter?: Key[] | "gone";
}

/**
 * The statements of the pages by their headings. After each one, the test also checks that nobody
 * but the secret key's role may use the table and the copy, and that this role can read the table.
 */
const STATEMENTS: Record<string, Case[]> = {
  "Issue the key for alarms": [{
    before: [],
    prints: [{ id: "a new UUID" }],
    after: [{ id: "a new UUID", project_id: PRODUCT, curr_user: "monitor" }],
  }],
  "Issue one key": [{
    before: [BESSIES_2],
    prints: [{ id: "a new UUID" }],
    after: [BESSIES_2, { id: "a new UUID", project_id: PRODUCT, curr_user: null }],
  }],
  "List the batches of a product": [{
    before: BATCH_AND_OTHERS,
    prints: [{ keys: 2, used: 1 }, { keys: 1, used: 0 }],
  }],
  "List the keys of a batch": [{
    before: BATCH_AND_OTHERS,
    prints: [{ id: KEY_2, curr_user: "Bessie" }, { id: KEY_3, curr_user: null }],
  }],
  "Revoke the unused keys of a batch": [{
    before: BATCH_AND_OTHERS,
    prints: [{ id: KEY_3 }],
    after: [OF_OTHER_PRODUCT, BESSIES_2, UNUSED_4],
  }],
  "List the keys of a product": [{ before: [OF_OTHER_PRODUCT, BESSIES_2], prints: [BESSIES_2] }],
  "Find the keys of a name": [{
    before: [OF_NAME, { ...OF_SIMILAR_NAME, id: KEY_2 }],
    prints: [{ id: KEY, project_id: PRODUCT }],
  }],
  "Find a key": [{ before: [OF_NAME, BESSIES_2], prints: [OF_NAME] }],
  "Record the first use": [
    {
      when: "nobody has used the key",
      before: [UNUSED, BESSIES_2, UNUSED_3],
      prints: [{ id: KEY, curr_user: NAME }],
      after: [OF_NAME, BESSIES_2, UNUSED_3],
    },
    { when: "another user has used the key", before: [OF_SIMILAR_NAME], prints: [] },
    { when: "the key is of another product", before: [OF_OTHER_PRODUCT], prints: [] },
  ],
  "Move a key to another name": [{
    before: [OF_SIMILAR_NAME, BESSIES_2],
    prints: [{ id: KEY, curr_user: NAME }],
    after: [OF_NAME, BESSIES_2],
  }],
  "Release a key": [{
    before: [OF_NAME, BESSIES_2],
    prints: [{ id: KEY }],
    after: [UNUSED, BESSIES_2],
  }],
  "Revoke a key": [{ before: [OF_NAME, BESSIES_2], prints: [OF_NAME], after: [BESSIES_2] }],
  "Put a key back": [{
    before: [BESSIES_2],
    prints: [{ id: KEY, curr_user: NAME }],
    after: [OF_NAME, BESSIES_2],
  }],
  "Count the keys in the table": [{ before: [OF_NAME, BESSIES_2], prints: [{ keys: 2 }] }],
  "Prepare the table": [{
    when: "anybody may use it: afterwards, the secret key's role alone",
    given: `drop table public.activation_keys;
      create table public.activation_keys
        (id uuid, project_id uuid, curr_user text, created_at timestamptz);
      grant all on table public.activation_keys to anon;`,
    before: [],
    prints: [],
  }],
  "Compare key and name": [
    {
      when: "key, name and product belong together",
      before: [OF_NAME, BESSIES_2],
      prints: [{ curr_user: NAME, their_name: NAME, same_name: true, same_product: true }],
    },
    {
      when: "another user has used the key",
      before: [OF_SIMILAR_NAME],
      prints: [{ curr_user: "O'DEA", their_name: NAME, same_name: false, same_product: true }],
    },
    {
      when: "nobody has used the key, and it is of another product",
      before: [OF_OTHER_PRODUCT],
      prints: [{ curr_user: null, their_name: NAME, same_name: null, same_product: false }],
    },
  ],
  "Give the rights back": [{
    when: "the secret key's role may not use the table: afterwards, it may",
    given: `revoke all on table public.activation_keys from service_role;
      revoke usage on schema public from service_role, public;`,
    before: [OF_NAME],
    prints: [],
  }],
  // A copy that is there already is replaced by an empty one.
  "Upload an export": [{ before: [BESSIES_2], copyBefore: [OF_NAME], prints: [], copyAfter: [] }],
  "List the keys that are missing": [{
    before: [BESSIES_2],
    copyBefore: [OF_NAME, BESSIES_2, UNUSED_3],
    prints: [OF_NAME, UNUSED_3],
  }],
  "Strike a key from the export": [{
    before: [],
    copyBefore: [OF_NAME, BESSIES_2],
    prints: [{ id: KEY }],
    copyAfter: [BESSIES_2],
  }],
  "Strike the unused keys of a batch from the export": [{
    before: [],
    copyBefore: BATCH_AND_OTHERS,
    prints: [{ id: KEY_3 }],
    copyAfter: [OF_OTHER_PRODUCT, BESSIES_2, UNUSED_4],
  }],
  "Insert the keys of the export": [{
    before: [OF_SIMILAR_NAME],
    copyBefore: [OF_NAME, BESSIES_2],
    prints: [{ id: KEY_2, curr_user: "Bessie" }],
    after: [OF_SIMILAR_NAME, BESSIES_2],
  }],
  "Drop the copy": [{ before: [OF_NAME], copyBefore: [OF_NAME], prints: [], copyAfter: "gone" }],
  "List what differs from the export": [{
    before: [OF_SIMILAR_NAME, BESSIES_2, { ...UNUSED_3, project_id: OTHER_PRODUCT }],
    copyBefore: [OF_NAME, BESSIES_2, UNUSED_3],
    prints: [
      { id: KEY, name_was: NAME, name_is: "O'DEA", product_was: PRODUCT, product_is: PRODUCT },
      { id: KEY_3, name_was: null, name_is: null, product_was: PRODUCT, product_is: OTHER_PRODUCT },
    ],
  }],
  "List the keys that came since the export": [{
    before: [OF_NAME, BESSIES_2],
    copyBefore: [BESSIES_2],
    prints: [OF_NAME],
  }],
};

/** Headings of the statements that have tests of their own, below. */
const WITH_TESTS_BELOW = [
  "Make a UUID",
  "Issue 500 keys for a shop",
  "See whether the table qualifies",
  "Print the present rights",
];

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

/** Fills in what a page lets its reader replace. (`$&` in a key or a name is no pattern there.) */
const fillIn = (code: string, key = KEY, name = NAME) =>
  code.replaceAll(/<(monitor )?product>/g, PRODUCT)
    .replaceAll("<time>", TIME)
    .replaceAll(/<(monitor )?key>/g, () => key)
    .replaceAll("<name>", () => name)
    .replaceAll("<secret key>", service.settings.SECRET_KEY)
    .replace(/https?:..(<ref>[^/]*|<service>|[\d.:]+)/, service.settings.API_URL);

/** Reads the blocks under a heading of the pages for operators. */
const readOperators = async (language: string, heading: string) =>
  (await Promise.all(OPERATORS.map((page) => readBlocks(page, language, heading)))).flat();
const OPERATORS = PAGES.filter((page) => /^docs\W/.test(page));

/** Reads the one statement under a heading. */
async function readStatement(heading: string): Promise<string> {
  const [statement, ...others] = await readOperators("sql", heading);
  assert(statement && others.length === 0, `statements under ${heading}`);
  return statement;
}

/** Runs SQL. Returns the rows of the last statement. */
const exec = async (sql: string): Promise<Record<string, unknown>[]> =>
  (await database.exec(sql)).at(-1)?.rows ?? [];

/** Begins a transaction in which the table, and perhaps a copy of an export, has these keys. */
async function begin(keys: Key[], copy?: Key[]) {
  await exec("rollback; begin; delete from public.activation_keys");
  await insert("public.activation_keys", keys);
  if (!copy) return;
  await exec(await readStatement("Upload an export"));
  await insert("public.exported_keys", copy);
}

async function insert(table: string, keys: Key[]) {
  for (const { id, project_id, curr_user, created_at } of keys) {
    const values = [id, project_id, curr_user, created_at ?? "2025-12-31"];
    await database.query(`insert into ${table} values ($1, $2, $3, $4)`, values);
  }
}

/** Leaves the times out of rows, and names the ids that a statement has made. */
const comparable = (rows: object[]) =>
  rows.map((row) => {
    const { created_at: _, ...others } = row as Record<string, unknown>;
    const isKnown = [KEY, KEY_2, KEY_3, UNUSED_4.id].some((id) => id === others.id);
    return "id" in others && !isKnown ? { ...others, id: "a new UUID" } : others;
  });

/** Reads all keys: first those of these tests, in the order of their ids, then new ones. */
const readKeys = async (table = "public.activation_keys") =>
  comparable(
    await exec(`select id, project_id, curr_user from ${table}
      order by id::text not like '2b7e4c80%', id`),
  );

/** Tables without RLS, or with rights other than their owner's and the secret key's role's. */
const WRONG_RIGHTS = `select relname, relacl::text from pg_class
  where relkind = 'r' and relname ~ 'keys$' and not (relrowsecurity
    and relacl::text ~ '^{postgres=\\w+/postgres,service_role=a(rwd)?/postgres}$')`;

for (const [heading, cases] of Object.entries(STATEMENTS)) {
  for (const { when, given = "", before, copyBefore, prints, ...afterwards } of cases) {
    const situation = when ? `, when ${when}` : "";
    Deno.test(`SQL on the pages: ${heading}${situation} → printed rows: ${prints.length}`, async () => {
      const { after = before, copyAfter = copyBefore } = afterwards;
      await begin(before, copyBefore);
      await exec(given);
      const printed = await exec(fillIn(await readStatement(heading)));
      assertEquals<object[]>(comparable(printed), comparable(prints), "prints");

      assertEquals(await exec(WRONG_RIGHTS), [], "tables with wrong rights");
      const copies = await exec("select to_regclass('exported_keys')::text as name");
      assertEquals(copies, [{ name: Array.isArray(copyAfter) ? "exported_keys" : null }]);
      if (Array.isArray(copyAfter)) {
        assertEquals(await readKeys("public.exported_keys"), comparable(copyAfter), "the copy");
      }
      // The role of the secret key has to be able to read the table, whatever was done to it.
      await exec("set local role service_role");
      assertEquals(await readKeys(), comparable(after), "the table");
    });
  }
}

Deno.test("SQL on the pages: each statement has a heading of its own, and a test", async () => {
  const tested = [...Object.keys(STATEMENTS), ...WITH_TESTS_BELOW];
  const headings: string[] = [];
  for (const page of PAGES) {
    for (const section of (await readPage(page)).split(/^#+ /m)) {
      const statements = section.split("```sql").length - 1;
      const [heading = ""] = section.split("\n");
      headings.push(...Array(statements).fill(heading));
    }
  }
  assertEquals(headings.toSorted(), tested.sort());
});

Deno.test("SQL on the pages: Make a UUID", async () => {
  const [row] = await exec(await readStatement("Make a UUID"));
  assertMatch(`${row?.product}`, /^[0-9a-f-]{36}$/);
});

Deno.test("SQL on the pages: Issue 500 keys for a shop, which makes one batch of unused keys", async () => {
  await begin([BESSIES_2]);
  const printed = await exec(fillIn(await readStatement("Issue 500 keys for a shop")));
  assertEquals(new Set(printed.map(({ id }) => id)).size, 500);
  const list = await readStatement("List the batches of a product");
  const batches = comparable(await exec(fillIn(list)));
  assertEquals(batches, [{ keys: 500, used: 0 }, { keys: 1, used: 1 }]);
});

/** What the page's query says of a table. */
const TABLES = [
  {
    title: "the table of our migration qualifies",
    given: "",
    findings: [
      "column id: uuid",
      "column project_id: uuid",
      "column curr_user: text",
      "column created_at: timestamp with time zone",
      "default of id: gen_random_uuid()",
      "default of created_at: now()",
      "collation of curr_user: deterministic",
      "id is unique: yes",
      "needs a value: project_id",
      "unused keys with an empty text: 0",
      "row level security: on",
    ],
  },
  {
    // It has no `created_at`. Its `id` alone is not unique. `paid` has a default, so it may stay.
    title: "another table does not",
    given: `drop table public.activation_keys;
      create table public.activation_keys (id uuid, project_id text,
        curr_user varchar(20) not null default '', shop text not null,
        paid boolean not null default true, unique (id, shop));
      insert into public.activation_keys values
        ('${KEY}', null, '', 'a'), ('${KEY}', null, '', 'b');
      create policy everybody on public.activation_keys using (true);`,
    findings: [
      "column id: uuid",
      "column project_id: text",
      "column curr_user: character varying(20)",
      "column shop: text",
      "column paid: boolean",
      "collation of curr_user: deterministic",
      "id is unique: NO",
      "needs a value: curr_user",
      "needs a value: shop",
      `two rows with the id: ${KEY}`,
      "unused keys with an empty text: 2",
      "row level security: off",
      "policy: everybody",
    ],
  },
];

for (const { title, given, findings } of TABLES) {
  Deno.test(`SQL on the pages: See whether the table qualifies → ${title}`, async () => {
    await begin([OF_NAME, BESSIES_2]);
    await exec(given);
    const heading = "See whether the table qualifies";
    const rows = await exec(await readStatement(heading));
    const found = rows.map(({ finding, value }) => `${finding}: ${value}`);
    assertEquals(found, findings);
  });
}

Deno.test("SQL on the pages: Print the present rights, which prints grants that restore them", async () => {
  await begin([]);
  await exec("grant select, update on table public.activation_keys to anon");
  const rights = () =>
    exec(`select grantee::regrole::text, privilege_type
      from pg_class, aclexplode(relacl) where relname = 'activation_keys'
      order by 1, 2`);
  const before = await rights();
  const grants = await exec(await readStatement("Print the present rights"));
  await exec("revoke all on public.activation_keys from anon, service_role");
  await exec(grants.map(({ statement }) => statement).join("\n"));
  assertEquals(await rights(), before);
});

/** Texts of a customer that would do harm if the pages did not put them into dollar quotes. */
const PASTED = [
  "00000000-0000-0000-0000-000000000000' or true --",
  "O'Dea",
  "a$'b$&c$$d",
  "'); delete from public.activation_keys; --",
];
const STORE_A_NAME = ["Record the first use", "Move a key to another name", "Put a key back"];

for (const [heading, [first]] of Object.entries(STATEMENTS)) {
  const statement = await readStatement(heading);
  const copyBefore = first?.copyBefore;
  // "Put a key back" inserts the key, so the table must not have it before.
  const before = heading === "Put a key back" ? [BESSIES_2] : [UNUSED, BESSIES_2];
  for (const place of ["key", "name"].filter((place) => statement.includes(`<${place}>`))) {
    for (const text of PASTED) {
      const isStored = place === "name" && STORE_A_NAME.includes(heading);
      const result = isStored ? "this name is stored" : "nothing changes";
      Deno.test(`SQL on the pages: ${heading}, with the ${place} ${text} → ${result}`, async () => {
        await begin(before, copyBefore);
        await exec("savepoint before_statement");
        const filledIn = place === "key" ? fillIn(statement, text) : fillIn(statement, KEY, text);
        await exec(filledIn).catch(async () => {
          Deno.exitCode = 0; // PGlite sets it after an error.
          await exec("rollback to savepoint before_statement");
        });
        const after = isStored ? [{ ...UNUSED, curr_user: text }, BESSIES_2] : before;
        assertEquals<object[]>(await readKeys(), after);
        if (copyBefore) assertEquals<object[]>(await readKeys("exported_keys"), copyBefore);
      });
    }
  }
}

/** What the first curl under a heading prints. The key <key> is unused, or is that of a user. */
const COMMANDS: { heading: string; user?: string; prints: string }[] = [
  { heading: "Deploy", prints: "HTTP/1.1 499" },
  { heading: "Ask about the name monitor", user: "monitor", prints: "HTTP/1.1 200" },
  { heading: "Try the example", prints: '{"activated":true}' },
  { heading: "Issue a key by a request", prints: '[{"id":"' },
  { heading: "Change the secret key", prints: "HTTP/1.1 200" },
  { heading: "When something is wrong", user: "monitor", prints: "HTTP/1.1 200" },
  { heading: "Customers cannot activate keys", user: "monitor", prints: '{"activated":true}' },
  // The text `<leaked key>` is sent as it stands. It is no secret key.
  { heading: "A secret key leaked", prints: "HTTP/1.1 401" },
];

for (const { heading, user = null, prints } of COMMANDS) {
  Deno.test(`commands on the pages: curl under ${heading} prints ${prints}`, async () => {
    const curl = (await readOperators("sh", heading)).find((block) => block.startsWith("curl"));
    await using product = await service.issueKeys([user], PRODUCT);
    const { stdout } = await runLine(fillIn(curl!, product.keys[0]!.id, NAME));
    assertStringIncludes(stdout, prints);
  });
}

Deno.test("commands on the pages: Erase a key from an export, which leaves the others", async () => {
  await using folder = await makeTempFolder();
  const cwd = new URL("check-username-active/", folder.url);
  await Deno.mkdir(cwd);
  const file = new URL("keys-a-2026-01-02.json", folder.url);
  await Deno.writeTextFile(file, JSON.stringify([OF_NAME, BESSIES_2]));
  const [command = ""] = await readOperators("sh", "Erase a key from an export");
  const filled = fillIn(command).replace("<export>", "a-2026-01-02");
  const { stdout } = await runLine(filled, { cwd });
  assertEquals(stdout.trim(), "1");
  assertEquals(JSON.parse(await Deno.readTextFile(file)), [BESSIES_2]);
});

Deno.test("README.md: a new user gets 499, activates a key, and gets 200", async () => {
  const responses: string[] = [];
  for (const block of await readBlocks("README.md", "sh", "Run it")) {
    if (!block.startsWith("curl")) continue;
    const { stdout } = await runLine(fillIn(block));
    const [, status] = stdout.match(/^HTTP\/1\.1 (\d+)/)!;
    responses.push(`${status} ${stdout.split("\r\n\r\n")[1]}`);
  }
  assertEquals(responses, [
    '499 {"error":"User not found for project"}',
    '200 {"activated":true}',
    '200 {"success":true}',
  ]);
});
