/** The SQL and the commands on the pages for operators, and README.md's requests. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../tools/database.ts";
import { SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PAGES, readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import * as service from "../support/service_under_test.ts";

const OPERATE = "docs/operate.md";
const INCIDENTS = "docs/incidents.md";

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
  /** By default, a time that no other key has. */
  created_at?: string;
}

// What the key <key> can be.
const UNUSED: Key = { id: KEY, project_id: PRODUCT, curr_user: null };
const USED: Key = { id: KEY, project_id: PRODUCT, curr_user: NAME };
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

/** A statement, and what it does. */
interface Row {
  page: string;
  /** The heading above the statement. */
  heading: string;
  when: string;
  /** The keys in the table before, in the order of their ids. */
  before: Key[];
  /** The keys in the copy of an export before. By default, there is no copy. */
  copyBefore?: Key[];
  /** SQL that runs before the statement. */
  given?: string;
  /** The rows that the statement prints, without their times. */
  prints: object[];
  /** The keys in the table afterwards, in the order of their ids. */
  after: Key[];
  /** The keys in the copy afterwards. By default, they are as before. */
  copyAfter?: Key[] | "gone";
}

const ROWS: Row[] = [
  {
    page: OPERATE,
    heading: "Issue the key for alarms",
    when: "there is none yet",
    before: [],
    prints: [{ id: "a new UUID" }],
    after: [{ id: "a new UUID", project_id: PRODUCT, curr_user: "monitor" }],
  },
  {
    page: OPERATE,
    heading: "Issue one key",
    when: "there are others",
    before: [BESSIES],
    prints: [{ id: "a new UUID" }],
    after: [
      BESSIES,
      { id: "a new UUID", project_id: PRODUCT, curr_user: null },
    ],
  },
  {
    page: OPERATE,
    heading: "List the batches of a product",
    when: "there are two batches, and a key of another product",
    before: [
      { ...OF_OTHER_PRODUCT, created_at: TIME },
      { ...BESSIES, created_at: TIME },
      { ...UNUSED_3, created_at: TIME },
      UNUSED_4,
    ],
    prints: [{ keys: 2, used: 1 }, { keys: 1, used: 0 }],
    after: [OF_OTHER_PRODUCT, BESSIES, UNUSED_3, UNUSED_4],
  },
  {
    page: OPERATE,
    heading: "List the keys of a batch",
    when: "there is another batch, and another product has the same time",
    before: [
      { ...OF_OTHER_PRODUCT, created_at: TIME },
      { ...BESSIES, created_at: TIME },
      { ...UNUSED_3, created_at: TIME },
      UNUSED_4,
    ],
    prints: [
      { id: KEY_2, curr_user: "Bessie" },
      { id: KEY_3, curr_user: null },
    ],
    after: [OF_OTHER_PRODUCT, BESSIES, UNUSED_3, UNUSED_4],
  },
  {
    page: OPERATE,
    heading: "Revoke the unused keys of a batch",
    when: "its time is also that of a used key and of another product's key",
    before: [
      { ...OF_OTHER_PRODUCT, created_at: TIME },
      { ...BESSIES, created_at: TIME },
      { ...UNUSED_3, created_at: TIME },
      UNUSED_4, // Of another batch.
    ],
    prints: [{ id: KEY_3 }],
    after: [OF_OTHER_PRODUCT, BESSIES, UNUSED_4],
  },
  {
    page: OPERATE,
    heading: "List the keys of a product",
    when: "there is a key of another product",
    before: [OF_OTHER_PRODUCT, BESSIES],
    prints: [BESSIES],
    after: [OF_OTHER_PRODUCT, BESSIES],
  },
  {
    page: OPERATE,
    heading: "Find the keys of a name",
    when: "there is a key of another case of the name",
    before: [USED, { ...USED_BY_OTHER, id: KEY_2 }],
    prints: [{ id: KEY, project_id: PRODUCT }],
    after: [USED, { ...USED_BY_OTHER, id: KEY_2 }],
  },
  {
    page: OPERATE,
    heading: "Find a key",
    when: "there are others",
    before: [USED, BESSIES],
    prints: [USED],
    after: [USED, BESSIES],
  },
  {
    page: OPERATE,
    heading: "Record the first use",
    when: "nobody has used the key",
    before: [UNUSED, BESSIES, UNUSED_3],
    prints: [{ id: KEY, curr_user: NAME }],
    after: [USED, BESSIES, UNUSED_3],
  },
  {
    page: OPERATE,
    heading: "Record the first use",
    when: "another user has used the key",
    before: [USED_BY_OTHER],
    prints: [],
    after: [USED_BY_OTHER],
  },
  {
    page: OPERATE,
    heading: "Record the first use",
    when: "the key is of another product",
    before: [OF_OTHER_PRODUCT],
    prints: [],
    after: [OF_OTHER_PRODUCT],
  },
  {
    page: OPERATE,
    heading: "Move a key to another name",
    when: "another user has used the key",
    before: [USED_BY_OTHER, BESSIES],
    prints: [{ id: KEY, curr_user: NAME }],
    after: [USED, BESSIES],
  },
  {
    page: OPERATE,
    heading: "Release a key",
    when: "a user has used the key",
    before: [USED, BESSIES],
    prints: [{ id: KEY }],
    after: [UNUSED, BESSIES],
  },
  {
    page: OPERATE,
    heading: "Revoke a key",
    when: "a user has used the key",
    before: [USED, BESSIES],
    prints: [USED],
    after: [BESSIES],
  },
  {
    page: OPERATE,
    heading: "Put a key back",
    when: "the key was revoked",
    before: [BESSIES],
    prints: [{ id: KEY, curr_user: NAME }],
    after: [USED, BESSIES],
  },
  {
    page: OPERATE,
    heading: "Count the keys in the table",
    when: "there are two",
    before: [USED, BESSIES],
    prints: [{ keys: 2 }],
    after: [USED, BESSIES],
  },
  {
    page: OPERATE,
    heading: "Prepare the table",
    when: "the table is an operator's own, and open to others",
    before: [],
    given: `drop table public.activation_keys;
      create table public.activation_keys
        (id uuid, project_id uuid, curr_user text, created_at timestamptz);
      grant all on table public.activation_keys to anon;`,
    prints: [],
    after: [],
  },
  {
    page: INCIDENTS,
    heading: "Compare key and name",
    when: "key, name and product belong together",
    before: [USED, BESSIES],
    prints: [{
      curr_user: NAME,
      their_name: NAME,
      same_name: true,
      same_product: true,
    }],
    after: [USED, BESSIES],
  },
  {
    page: INCIDENTS,
    heading: "Compare key and name",
    when: "another user has used the key",
    before: [USED_BY_OTHER],
    prints: [{
      curr_user: "O'DEA",
      their_name: NAME,
      same_name: false,
      same_product: true,
    }],
    after: [USED_BY_OTHER],
  },
  {
    page: INCIDENTS,
    heading: "Compare key and name",
    when: "nobody has used the key, which is of another product",
    before: [OF_OTHER_PRODUCT],
    prints: [{
      curr_user: null,
      their_name: NAME,
      same_name: null,
      same_product: false,
    }],
    after: [OF_OTHER_PRODUCT],
  },
  {
    page: INCIDENTS,
    heading: "Give the rights back",
    when: "the secret key has lost its rights",
    before: [USED],
    given: `revoke all on table public.activation_keys from service_role;
      revoke usage on schema public from service_role, public;`,
    prints: [],
    after: [USED],
  },
  {
    page: INCIDENTS,
    heading: "Upload an export",
    when: "there is a copy from an earlier time",
    before: [BESSIES],
    copyBefore: [USED],
    prints: [],
    after: [BESSIES],
    copyAfter: [],
  },
  {
    page: INCIDENTS,
    heading: "List the keys that are missing",
    when: "two keys of the export are missing, and one is there",
    before: [BESSIES],
    copyBefore: [USED, BESSIES, UNUSED_3],
    prints: [USED, UNUSED_3],
    after: [BESSIES],
  },
  {
    page: INCIDENTS,
    heading: "Strike a key from the export",
    when: "the key was revoked since",
    before: [],
    copyBefore: [USED, BESSIES],
    prints: [{ id: KEY }],
    after: [],
    copyAfter: [BESSIES],
  },
  {
    page: INCIDENTS,
    heading: "Insert the keys of the export",
    when: "one is missing, and one was moved since",
    before: [USED_BY_OTHER],
    copyBefore: [USED, BESSIES],
    prints: [{ id: KEY_2, curr_user: "Bessie" }],
    after: [USED_BY_OTHER, BESSIES],
  },
  {
    page: INCIDENTS,
    heading: "Drop the copy",
    when: "there is a copy",
    before: [USED],
    copyBefore: [USED],
    prints: [],
    after: [USED],
    copyAfter: "gone",
  },
  {
    page: INCIDENTS,
    heading: "List what differs from the export",
    when: "one was moved, one has another product, and one is the same",
    before: [
      USED_BY_OTHER,
      BESSIES,
      { ...UNUSED_3, project_id: OTHER_PRODUCT },
    ],
    copyBefore: [USED, BESSIES, UNUSED_3],
    prints: [
      { id: KEY, name_was: NAME, name_is: "O'DEA", same_product: true },
      { id: KEY_3, name_was: null, name_is: null, same_product: false },
    ],
    after: [
      USED_BY_OTHER,
      BESSIES,
      { ...UNUSED_3, project_id: OTHER_PRODUCT },
    ],
  },
  {
    page: INCIDENTS,
    heading: "List the keys that came since the export",
    when: "one came, and one is in both",
    before: [USED, BESSIES],
    copyBefore: [BESSIES],
    prints: [USED],
    after: [USED, BESSIES],
  },
];

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

/** Reads the one statement under a heading. */
async function readStatement(page: string, heading: string): Promise<string> {
  const [statement = "", ...others] = await readBlocks(page, "sql", heading);
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
  await exec(await readStatement(INCIDENTS, "Upload an export"));
  await insert("public.exported_keys", copy);
}

async function insert(table: string, keys: Key[]) {
  for (const { id, project_id, curr_user, created_at } of keys) {
    const values = [id, project_id, curr_user, created_at ?? "2025-12-31"];
    await database.query(
      `insert into ${table} values ($1, $2, $3, $4)`,
      values,
    );
  }
}

/** Leaves the times out of rows, and names the ids that a statement has made. */
const withoutTimes = (rows: Record<string, unknown>[]) =>
  rows.map(({ created_at: _, ...row }) =>
    "id" in row && ![KEY, KEY_2, KEY_3, KEY_4].includes(String(row.id))
      ? { ...row, id: "a new UUID" }
      : row
  );

/** Reads all keys, those of the page's statements first. */
const readKeys = async (table = "public.activation_keys") =>
  withoutTimes(
    await exec(`select id, project_id, curr_user from ${table}
      order by id::text not like '2b7e4c80%', id`),
  ) as unknown as Key[];

/** Tables that others than their owner and the secret key's role may use, or without RLS. */
const OPEN_TABLES = `select relname, relacl::text from pg_class
  where relkind = 'r' and relname ~ 'keys$' and not (relrowsecurity
    and relacl::text ~ '^{postgres=\\w+/postgres,service_role=a(rwd)?/postgres}$')`;

for (const row of ROWS) {
  Deno.test(`${row.page}: ${row.heading}, when ${row.when}`, async () => {
    await begin(row.before, row.copyBefore);
    await exec(row.given ?? "");
    const statement = await readStatement(row.page, row.heading);
    const printed = await exec(fillIn(statement));
    assertEquals<object[]>(withoutTimes(printed), row.prints, "prints");

    assertEquals(await exec(OPEN_TABLES), [], "tables that are open to others");
    const copy = row.copyAfter ?? row.copyBefore;
    if (Array.isArray(copy)) {
      assertEquals(await readKeys("public.exported_keys"), copy, "the copy");
    }
    if (copy === "gone") {
      const [row] = await exec("select to_regclass('exported_keys') as copy");
      assertEquals(row, { copy: null });
    }
    // The role of the secret key has to be able to read the table, whatever was done to it.
    await exec("set local role service_role");
    assertEquals(await readKeys(), row.after, "the table");
  });
}

Deno.test("pages: each statement of SQL has a heading of its own, and a test", async () => {
  const tested = [...ROWS.map(({ heading }) => heading), ...WITH_TESTS_BELOW];
  const headings: string[] = [];
  for (const page of PAGES) {
    for (const section of (await readPage(page)).split(/^#+ /m)) {
      const statements = section.split("```sql").length - 1;
      const [heading = ""] = section.split("\n");
      headings.push(...Array(statements).fill(heading));
    }
  }
  assertEquals(headings.toSorted(), [...new Set(tested)].sort());
});

Deno.test("docs/operate.md: Make a UUID prints a new one each time", async () => {
  const statement = await readStatement(OPERATE, "Make a UUID");
  const [first] = await exec(statement);
  const [second] = await exec(statement);
  assert(/^[0-9a-f-]{36}$/.test(`${first?.product}`));
  assert(first?.product !== second?.product);
});

Deno.test("docs/operate.md: Issue 500 keys for a shop makes one batch of 500 unused keys", async () => {
  await begin([BESSIES]);
  const printed = await exec(
    fillIn(await readStatement(OPERATE, "Issue 500 keys for a shop")),
  );
  assertEquals(new Set(printed.map(({ id }) => id)).size, 500);
  const list = await readStatement(OPERATE, "List the batches of a product");
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
  Deno.test(`docs/operate.md: See whether the table qualifies, of ${table}`, async () => {
    await begin([USED, BESSIES]);
    await exec(given);
    const heading = "See whether the table qualifies";
    const rows = await exec(await readStatement(OPERATE, heading));
    const found = rows.map(({ finding, value }) => `${finding}: ${value}`);
    assertEquals(found, findings);
  });
}

Deno.test("docs/operate.md: Print the present rights prints grants that restore them", async () => {
  await begin([]);
  await exec("grant select, update on table public.activation_keys to anon");
  const rights = () =>
    exec(`select grantee::regrole::text, privilege_type
      from pg_class, aclexplode(relacl) where relname = 'activation_keys'
      order by 1, 2`);
  const before = await rights();
  const grants = await exec(
    await readStatement(OPERATE, "Print the present rights"),
  );
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

for (const { page, heading, copyBefore } of ROWS) {
  const statement = await readStatement(page, heading);
  const takes = ["<key>", "<name>"].filter((text) => statement.includes(text));
  for (const taken of takes) {
    for (const text of PASTED) {
      Deno.test(`${page}: ${heading}, with ${text} in the place of ${taken}`, async () => {
        const isPutBack = heading === "Put a key back";
        await begin(isPutBack ? [BESSIES] : [UNUSED, BESSIES], copyBefore);
        await exec("savepoint before_it");
        const filled = taken === "<key>"
          ? fillIn(statement, text)
          : fillIn(statement, KEY, text);
        await exec(filled).catch(async () => {
          Deno.exitCode = 0; // PGlite sets it after an error.
          await exec("rollback to savepoint before_it");
        });
        const others = (await readKeys()).filter(({ id }) => id !== KEY);
        assertEquals(others, [BESSIES], "keys that are not meant");
        const [key] = (await readKeys()).filter(({ id }) => id === KEY);
        if (taken === "<key>" && !isPutBack) assertEquals(key, UNUSED);
        if (taken === "<name>" && key?.curr_user) {
          assertEquals(key.curr_user, text, "the name that is stored");
        }
      });
    }
  }
}

/** A command on a page, and what it prints. The key <key> has this user. */
const COMMANDS = [
  {
    page: OPERATE,
    heading: "Deploy",
    command: "curl",
    user: null,
    prints: "HTTP/1.1 499",
  },
  {
    page: OPERATE,
    heading: "Issue the key for alarms",
    command: "curl",
    user: "monitor",
    prints: "HTTP/1.1 200",
  },
  {
    page: OPERATE,
    heading: "Try the example",
    command: "curl",
    user: null,
    prints: '{"activated":true}',
  },
  {
    page: OPERATE,
    heading: "Issue a key by a request",
    command: "curl",
    user: null,
    prints: '[{"id":"',
  },
  {
    page: OPERATE,
    heading: "Change the secret key",
    command: "curl -i",
    user: null,
    prints: "HTTP/1.1 200",
  },
  {
    page: INCIDENTS,
    heading: "When something is wrong",
    command: "curl",
    user: "monitor",
    prints: "HTTP/1.1 200",
  },
  {
    page: INCIDENTS,
    heading: "A secret key leaked",
    command: "curl",
    user: null,
    prints: "HTTP/1.1 401",
  },
];

for (const { page, heading, command, user, prints } of COMMANDS) {
  Deno.test(`${page}: ${heading}, the request prints ${prints}`, async () => {
    const blocks = await readBlocks(page, "sh", heading);
    const block = blocks.find((block) => block.startsWith(command))!;
    await using product = await service.issueKeys([user], PRODUCT);
    const { id } = product.keys[0]!;
    const { stdout } = await runLine(fillIn(block, id, "monitor"));
    assertStringIncludes(stdout, prints);
  });
}

Deno.test("docs/operate.md: Erase a key from an export leaves the others", async () => {
  await using folder = await makeTempFolder();
  const cwd = new URL("check-username-active/", folder.url);
  await Deno.mkdir(cwd);
  const file = new URL("keys-2026-01-02.json", folder.url);
  await Deno.writeTextFile(file, JSON.stringify([USED, BESSIES]));
  const heading = "Erase a key from an export";
  const [command = ""] = await readBlocks(OPERATE, "sh", heading);
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
