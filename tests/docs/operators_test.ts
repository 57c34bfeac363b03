/** The SQL and the commands on the pages for operators, and README.md's requests. */
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

// What the key <key> can be.
const UNUSED: Key = { id: KEY, project_id: PRODUCT, curr_user: null };
const USED: Key = { id: KEY, project_id: PRODUCT, curr_user: NAME };
const KEY_AND_NAME = { id: KEY, curr_user: NAME };
const USED_BY_OTHER: Key = { id: KEY, project_id: PRODUCT, curr_user: "O'DEA" };
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
const OF_OTHER_PRODUCT: Key = { ...UNUSED, project_id: OTHER_PRODUCT };
// Other keys of the product.
const KEY_2 = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52742";
const KEY_3 = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52743";
const KEY_4 = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52744";
const BESSIES: Key = { id: KEY_2, project_id: PRODUCT, curr_user: "Bessie" };
const UNUSED_3: Key = { id: KEY_3, project_id: PRODUCT, curr_user: null };
const UNUSED_4: Key = { id: KEY_4, project_id: PRODUCT, curr_user: null };
// Keys whose `created_at` is <time>.
const OTHER_PRODUCT_OF_BATCH: Key = { ...OF_OTHER_PRODUCT, created_at: TIME };
const BESSIES_OF_BATCH: Key = { ...BESSIES, created_at: TIME };
const UNUSED_OF_BATCH: Key = { ...UNUSED_3, created_at: TIME };

/** What the statement under a heading does. */
interface Row {
  when?: string;
  /** SQL that runs before the statement. */
  given?: string;
  /** The keys in the table before, in the order of their ids. */
  before: Key[];
  /** The keys in the copy of an export before. By default, there is no copy. */
  copyBefore?: Key[];
  /** The rows that the statement prints, without their times. */
  prints: object[];
  /** The keys in the table afterwards, in the order of their ids. By default, as before. */
  after?: Key[];
  /** The keys in the copy afterwards. By default, as before. */
  copyAfter?: Key[] | "gone";
}

const ROWS: Record<string, Row[]> = {
  "Issue the key for alarms": [{
    before: [],
    prints: [{ id: "a new UUID" }],
    after: [{ id: "a new UUID", project_id: PRODUCT, curr_user: "monitor" }],
  }],
  "Issue one key": [{
    before: [BESSIES],
    prints: [{ id: "a new UUID" }],
    after: [BESSIES, { id: "a new UUID", project_id: PRODUCT, curr_user: null }],
  }],
  "List the batches of a product": [{
    before: [OTHER_PRODUCT_OF_BATCH, BESSIES_OF_BATCH, UNUSED_OF_BATCH, UNUSED_4],
    prints: [{ keys: 2, used: 1 }, { keys: 1, used: 0 }],
  }],
  "List the keys of a batch": [{
    before: [OTHER_PRODUCT_OF_BATCH, BESSIES_OF_BATCH, UNUSED_OF_BATCH, UNUSED_4],
    prints: [{ id: KEY_2, curr_user: "Bessie" }, { id: KEY_3, curr_user: null }],
  }],
  "Revoke the unused keys of a batch": [{
    before: [OTHER_PRODUCT_OF_BATCH, BESSIES_OF_BATCH, UNUSED_OF_BATCH, UNUSED_4],
    prints: [{ id: KEY_3 }],
    after: [OTHER_PRODUCT_OF_BATCH, BESSIES_OF_BATCH, UNUSED_4],
  }],
  "List the keys of a product": [{ before: [OF_OTHER_PRODUCT, BESSIES], prints: [BESSIES] }],
  "Find the keys of a name": [{
    before: [USED, { ...USED_BY_OTHER, id: KEY_2 }],
    prints: [{ id: KEY, project_id: PRODUCT }],
  }],
  "Find a key": [{ before: [USED, BESSIES], prints: [USED] }],
  "Record the first use": [
    {
      when: "nobody has used the key",
      before: [UNUSED, BESSIES, UNUSED_3],
      prints: [KEY_AND_NAME],
      after: [USED, BESSIES, UNUSED_3],
    },
    { when: "another user has used the key", before: [USED_BY_OTHER], prints: [] },
    { when: "the key is of another product", before: [OF_OTHER_PRODUCT], prints: [] },
  ],
  "Move a key to another name": [{
    before: [USED_BY_OTHER, BESSIES],
    prints: [KEY_AND_NAME],
    after: [USED, BESSIES],
  }],
  "Release a key": [{ before: [USED, BESSIES], prints: [{ id: KEY }], after: [UNUSED, BESSIES] }],
  "Revoke a key": [{ before: [USED, BESSIES], prints: [USED], after: [BESSIES] }],
  "Put a key back": [{ before: [BESSIES], prints: [KEY_AND_NAME], after: [USED, BESSIES] }],
  "Count the keys in the table": [{ before: [USED, BESSIES], prints: [{ keys: 2 }] }],
  "Prepare the table": [{
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
      before: [USED, BESSIES],
      prints: [{ curr_user: NAME, their_name: NAME, same_name: true, same_product: true }],
    },
    {
      when: "another user has used the key",
      before: [USED_BY_OTHER],
      prints: [{ curr_user: "O'DEA", their_name: NAME, same_name: false, same_product: true }],
    },
    {
      when: "nobody has used the key, and it is of another product",
      before: [OF_OTHER_PRODUCT],
      prints: [{ curr_user: null, their_name: NAME, same_name: null, same_product: false }],
    },
  ],
  "Give the rights back": [{
    given: `revoke all on table public.activation_keys from service_role;
      revoke usage on schema public from service_role, public;`,
    before: [USED],
    prints: [],
  }],
  "Upload an export": [{ before: [BESSIES], copyBefore: [USED], prints: [], copyAfter: [] }],
  "List the keys that are missing": [{
    before: [BESSIES],
    copyBefore: [USED, BESSIES, UNUSED_3],
    prints: [USED, UNUSED_3],
  }],
  "Strike a key from the export": [{
    before: [],
    copyBefore: [USED, BESSIES],
    prints: [{ id: KEY }],
    copyAfter: [BESSIES],
  }],
  "Insert the keys of the export": [{
    before: [USED_BY_OTHER],
    copyBefore: [USED, BESSIES],
    prints: [{ id: KEY_2, curr_user: "Bessie" }],
    after: [USED_BY_OTHER, BESSIES],
  }],
  "Drop the copy": [{ before: [USED], copyBefore: [USED], prints: [], copyAfter: "gone" }],
  "List what differs from the export": [{
    before: [USED_BY_OTHER, BESSIES, { ...UNUSED_3, project_id: OTHER_PRODUCT }],
    copyBefore: [USED, BESSIES, UNUSED_3],
    prints: [
      { id: KEY, name_was: NAME, name_is: "O'DEA", same_product: true },
      { id: KEY_3, name_was: null, name_is: null, same_product: false },
    ],
  }],
  "List the keys that came since the export": [{
    before: [USED, BESSIES],
    copyBefore: [BESSIES],
    prints: [USED],
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

/** Fills in what a page lets its reader replace. (`$&` in a name is no pattern in a function.) */
const fillIn = (code: string, key = KEY, name = NAME) =>
  code.replaceAll(/<(monitor )?product>/g, PRODUCT)
    .replaceAll("<time>", TIME)
    .replaceAll("<key>", () => key)
    .replaceAll("<name>", () => name)
    .replaceAll("<secret key>", service.settings.SECRET_KEY)
    .replace(/https?:..(<ref>[^/]*|[\d.:]+)/, service.settings.API_URL);

/** Reads the blocks under a heading of the pages for operators. */
const readOperators = async (language: string, heading: string) => [
  ...await readBlocks("docs/operate.md", language, heading),
  ...await readBlocks("docs/incidents.md", language, heading),
];

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
const withoutTimes = (rows: object[]) =>
  rows.map((row) => {
    const { created_at: _, ...others } = row as Record<string, unknown>;
    const isKnown = [KEY, KEY_2, KEY_3, KEY_4].some((id) => id === others.id);
    return "id" in others && !isKnown ? { ...others, id: "a new UUID" } : others;
  });

/** Reads all keys, those of the page's statements first. */
const readKeys = async (table = "public.activation_keys") =>
  withoutTimes(
    await exec(`select id, project_id, curr_user from ${table}
      order by id::text not like '2b7e4c80%', id`),
  );

/** Tables that others than their owner and the secret key's role may use, or without RLS. */
const OPEN_TABLES = `select relname, relacl::text from pg_class
  where relkind = 'r' and relname ~ 'keys$' and not (relrowsecurity
    and relacl::text ~ '^{postgres=\\w+/postgres,service_role=a(rwd)?/postgres}$')`;

for (const [heading, rows] of Object.entries(ROWS)) {
  for (const { when, given = "", before, copyBefore, prints, ...row } of rows) {
    Deno.test(`SQL on the pages: ${heading}${when ? `, when ${when}` : ""}`, async () => {
      const { after = before, copyAfter = copyBefore } = row;
      await begin(before, copyBefore);
      await exec(given);
      const printed = await exec(fillIn(await readStatement(heading)));
      assertEquals<object[]>(withoutTimes(printed), withoutTimes(prints), "prints");

      assertEquals(await exec(OPEN_TABLES), [], "tables that are open to others");
      const copies = await exec("select to_regclass('exported_keys')::text as name");
      assertEquals(copies, [{ name: Array.isArray(copyAfter) ? "exported_keys" : null }]);
      if (Array.isArray(copyAfter)) {
        assertEquals(await readKeys("public.exported_keys"), withoutTimes(copyAfter), "the copy");
      }
      // The role of the secret key has to be able to read the table, whatever was done to it.
      await exec("set local role service_role");
      assertEquals(await readKeys(), withoutTimes(after), "the table");
    });
  }
}

Deno.test("SQL on the pages: each statement has a heading of its own, and a test", async () => {
  const tested = [...Object.keys(ROWS), ...WITH_TESTS_BELOW];
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
  await begin([BESSIES]);
  const printed = await exec(fillIn(await readStatement("Issue 500 keys for a shop")));
  assertEquals(new Set(printed.map(({ id }) => id)).size, 500);
  const list = await readStatement("List the batches of a product");
  const batches = withoutTimes(await exec(fillIn(list)));
  assertEquals(batches, [{ keys: 500, used: 0 }, { keys: 1, used: 1 }]);
});

/** What the page's query says of a table. */
const TABLES = [
  {
    table: "the table of our migration",
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
      "never empty: project_id",
    ],
  },
  {
    table: "a table that does not qualify",
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
      "never empty: curr_user",
      "never empty: shop",
      `two rows with the id: ${KEY}`,
      "policy: everybody",
    ],
  },
];

for (const { table, given, findings } of TABLES) {
  Deno.test(`SQL on the pages: See whether the table qualifies, of ${table}`, async () => {
    await begin([USED, BESSIES]);
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

/** Texts of a customer that would change a statement if they were not quoted. */
const PASTED = [
  "00000000-0000-0000-0000-000000000000' or true --",
  "O'Dea",
  "a$'b$&c$$d",
  "'); delete from public.activation_keys; --",
];

for (const [heading, [row]] of Object.entries(ROWS)) {
  const statement = await readStatement(heading);
  for (const place of ["<key>", "<name>"].filter((place) => statement.includes(place))) {
    for (const text of PASTED) {
      Deno.test(`SQL on the pages: ${heading}, with ${text} in the place of ${place}`, async () => {
        const before = heading === "Put a key back" ? [BESSIES] : [UNUSED, BESSIES];
        await begin(before, row?.copyBefore);
        await exec("savepoint before_it");
        const filled = place === "<key>" ? fillIn(statement, text) : fillIn(statement, KEY, text);
        await exec(filled).catch(async () => {
          Deno.exitCode = 0; // PGlite sets it after an error.
          await exec("rollback to savepoint before_it");
        });
        const keys = await readKeys();
        // A key that is no UUID changes nothing. A name is stored exactly, in no other key's row.
        if (place === "<key>") return assertEquals<unknown>(keys, before);
        assertEquals<unknown>(keys.filter(({ id }) => id !== KEY), [BESSIES]);
        const named = keys.find(({ id }) => id === KEY)?.curr_user ?? text;
        assertEquals(named, text, "the name that is stored");
      });
    }
  }
}

/** What the first curl under a heading prints, when the key <key> has this user. */
const COMMANDS = [
  { heading: "Deploy", user: null, prints: "HTTP/1.1 499" },
  { heading: "Issue the key for alarms", user: "monitor", prints: "HTTP/1.1 200" },
  { heading: "Try the example", user: null, prints: '{"activated":true}' },
  { heading: "Issue a key by a request", user: null, prints: '[{"id":"' },
  { heading: "Change the secret key", user: null, prints: "HTTP/1.1 200" },
  { heading: "When something is wrong", user: "monitor", prints: "HTTP/1.1 200" },
  { heading: "A secret key leaked", user: null, prints: "HTTP/1.1 401" },
];

for (const { heading, user, prints } of COMMANDS) {
  Deno.test(`commands on the pages: curl under ${heading} prints ${prints}`, async () => {
    const curl = (await readOperators("sh", heading)).find((block) => block.startsWith("curl"));
    await using product = await service.issueKeys([user], PRODUCT);
    const { stdout } = await runLine(fillIn(curl!, product.keys[0]!.id, "monitor"));
    assertStringIncludes(stdout, prints);
  });
}

Deno.test("commands on the pages: Erase a key from an export, which leaves the others", async () => {
  await using folder = await makeTempFolder();
  const cwd = new URL("check-username-active/", folder.url);
  await Deno.mkdir(cwd);
  const file = new URL("keys-2026-01-02.json", folder.url);
  await Deno.writeTextFile(file, JSON.stringify([USED, BESSIES]));
  const [command = ""] = await readOperators("sh", "Erase a key from an export");
  const filled = fillIn(command).replace("<export>", "2026-01-02");
  const { stdout } = await runLine(filled, { cwd });
  assertEquals(stdout.trim(), "1");
  assertEquals(JSON.parse(await Deno.readTextFile(file)), [BESSIES]);
});

Deno.test("README.md: a new user gets 499, activates a key, and gets 200", async () => {
  const blocks = await readBlocks("README.md", "sh", "Run it");
  const responses: string[] = [];
  for (const block of blocks) {
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
