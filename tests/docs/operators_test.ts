/** The SQL and the requests on the pages for operators. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import { openDatabase } from "../../tools/database.ts";
import { readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { issueKeys, service } from "../support/service_under_test.ts";

/** How the ids of keys begin: `#1` is this and a 1. On the pages, `<key>` is `#1`. */
const ID = "2b7e4c80-91d5-4f36-a0c8-6e13d9f5274";
/** Before each block of SQL, key 1 has a user, and 2 has none. */
const BEGIN = `insert into activation_keys (project_id, id, curr_user)
  values ('<product>', '#1', '<name>'), ('<product>', '#2', null);`;
const KEYS = `set role service_role; select id, curr_user from activation_keys
  where project_id = '<product>' order by id::text not like '#%', id`;
/** Tables that other roles may use, or whose row level security is off. */
const OPEN = `reset role; select relacl from pg_class where relname ~ 'keys$'
  and not (relrowsecurity
    and relacl::text ~ '^{postgres=\\w+/postgres,service_role=a(rwd)?/postgres}$')`;
const UNUSED = "update activation_keys set curr_user = null;";
const MOVED = "update activation_keys set curr_user = 'O''DEA';";
const FOREIGN = "update activation_keys set project_id = gen_random_uuid();";
const DENIED = "revoke all on activation_keys from service_role;";
const OLD = `drop table activation_keys;
  create table activation_keys (id uuid, project_id uuid, curr_user text);`;
const GONE = "delete from activation_keys where id = '#1';";
const NO_KEY = "There is no active key for this name";
const MISSING = "Keys are missing";
const [COPY] = await readBlocks("docs/incidents.md", "sql", MISSING);
/** Since the export, key 1 was revoked, 2 moved, and 3 lost. */
const EXPORT = `${COPY} insert into exported_keys select * from activation_keys;
  insert into exported_keys values ('#3', '<product>', null, now()); ${MOVED} ${GONE}`;
const THERE = "#1 O'Dea, #2 null";
/** A block under a heading; SQL before it; what it prints; the keys that there are then. */
type Row = [string, nth: number, given: string, prints: string, keys: string];
const ROWS: Record<string, Row[]> = {
  "docs/operate.md": [
    ["It works", 1, "", "?", THERE],
    ["It works", 2, "", "?", `${THERE}, ? monitor`],
    ["Keys", 1, GONE, "#2 P null", "#2 null"],
    ["Keys", 2, "", "?", `${THERE}, ? null`],
    ["Keys", 3, UNUSED, "#1 O'Dea", THERE],
    ["Keys", 3, MOVED, "", "#1 O'DEA, #2 O'DEA"],
    ["Keys", 3, UNUSED + FOREIGN, "", ""],
    ["Keys", 4, MOVED, "#1 O'Dea", "#1 O'Dea, #2 O'DEA"],
    ["Keys", 5, "", "#1", "#1 null, #2 null"],
    ["Keys", 6, "", "#1 P O'Dea", "#2 null"],
    ["Keys", 7, GONE, "#1 O'Dea", THERE],
    ["Back up", 1, GONE, "1", "#2 null"],
    ["A table that you have already", 1, OLD, "", ""],
  ],
  "docs/incidents.md": [
    [NO_KEY, 1, "", "O'Dea O'Dea true true", THERE],
    [NO_KEY, 1, MOVED, "O'DEA O'Dea false true", "#1 O'DEA, #2 O'DEA"],
    [NO_KEY, 1, FOREIGN, "O'Dea O'Dea true false", ""],
    ["500, Database error", 1, DENIED, "", THERE],
    [MISSING, 1, "", "", THERE],
    [MISSING, 2, EXPORT, "#1 P O'Dea, #3 P null", "#2 O'DEA"],
    [MISSING, 3, EXPORT, "#1", "#2 O'DEA"],
    [MISSING, 4, EXPORT, "#1 O'Dea, #3 null", "#1 O'Dea, #2 O'DEA, #3 null"],
    ["Keys are wrong", 1, EXPORT, "#2 null O'DEA true", "#2 O'DEA"],
  ],
};

const database = await openDatabase();
Deno.test.afterAll(() => database[Symbol.asyncDispose]());

/** Fills in what a page lets its reader replace. */
const fillIn = (code: string, key: string, name: string) =>
  code.replaceAll("<product>", SEEDED.project_id).replaceAll("<key>", key)
    .replaceAll("<name>", name).replaceAll("<secret key>", service.SECRET_KEY)
    .replace(/https?:..(<ref>[^/]*|[\d.:]+)/, service.API_URL);

/** Runs SQL. Returns the last rows as text up to their time, with `?` for a new UUID. */
async function exec(sql: string): Promise<string> {
  const block = fillIn(sql, "#1", "O''Dea").replaceAll("#", ID);
  const { rows } = (await database.exec(block)).at(-1)!;
  return rows.map((row) => Object.values(row).map(String).join(" ")).join(", ")
    .replaceAll(ID, "#").replaceAll(SEEDED.project_id, "P")
    .replaceAll(/[\da-f-]{36}/g, "?").replaceAll(/ \w+ \w+ \d+ [^,]*/g, "");
}

for (const [page, rows] of Object.entries(ROWS)) {
  for (const [heading, nth, given, prints, keys] of rows) {
    Deno.test(`${page}: ${heading}, SQL ${nth} prints "${prints}"`, async () => {
      const block = (await readBlocks(page, "sql", heading))[nth - 1]!;
      await exec("rollback; begin;" + BEGIN + given);
      assertEquals([await exec(block), await exec(KEYS)], [prints, keys]);
      assertEquals(await exec(OPEN), "", "tables that are open to others");
    });
  }
}

/** The user of a key #; a command under a heading of a page; what it then prints. */
const COMMANDS: [string | null, string, string, number, string][] = [
  [null, "README.md", "Deploy", 2, "HTTP/1.1 499"],
  [null, "docs/operate.md", "Try the example", 1, "HTTP/1.1 200"],
  [null, "docs/operate.md", "Issue a key by", 1, '[{"id":"'],
  ["monitor", "docs/operate.md", "It works", 1, "HTTP/1.1 200"],
  [null, "docs/operate.md", "Change the secret key", 1, "HTTP/1.1 200"],
  ["monitor", "docs/incidents.md", "When something", 1, "HTTP/1.1 200"],
  [null, "docs/incidents.md", "The secret key leaked", 1, "HTTP/1.1 401"],
];

for (const [user, page, heading, nth, prints] of COMMANDS) {
  Deno.test(`${page}: ${heading}, command ${nth} prints ${prints}`, async () => {
    const block = (await readBlocks(page, "sh", heading))[nth - 1]!;
    await using product = await issueKeys([user], SEEDED.project_id);
    const { id } = product.keys[0]!;
    const { stdout } = await runLine(fillIn(block, id, "monitor"));
    assertStringIncludes(stdout.replace(id, "#"), prints);
  });
}

Deno.test("README.md: a new user gets 499, activates a key, and gets 200", async () => {
  const blocks = await readBlocks("README.md", "sh", "Run it");
  const responses: string[] = [];
  for (const block of blocks) {
    if (!block.startsWith("curl")) continue;
    const { stdout } = await runLine(fillIn(block, "", ""));
    const [, status] = stdout.match(/^HTTP\/1\.1 (\d+)/)!;
    responses.push(`${status} ${stdout.split("\r\n\r\n")[1]}`);
  }
  assertEquals(responses, [
    '499 {"error":"User not found for project"}',
    '200 {"activated":true}',
    '200 {"success":true}',
  ]);
});
