/** The code on the pages for operators does what they say. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE, type Expected, NOT_FOUND } from "../support/contract.ts";
import { runOnPlatform } from "../support/management_api.ts";
import * as pages from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { assertResponse, check } from "../support/requests.ts";

const PRODUCT = SEEDED.project_id;
const NAME = "O'Brien#1937";
const KEYS = "public.activation_keys";
/** Ids of keys, without the last digit. `<key>` becomes the id that ends with 1. */
const ID = "2b7e4c80-91d5-4f36-a0c8-6e13d9f5274";

/** SQL that issues the keys with which each test begins. Its rows become the file of an export. */
const ISSUE_KEYS = `
  drop table if exists public.exported_keys;
  truncate ${KEYS};
  insert into ${KEYS} (id, project_id, curr_user) values
    ('${ID}1', '<product>', '<name>'), ('${ID}2', '<product>', 'lost'),
    ('${ID}3', '<product>', null), ('${ID}4', '<product>', null),
    ('${ID}5', gen_random_uuid(), '<name>');
  select * from ${KEYS} order by id`;

// What may happen to the keys after that export.
const MOVED = `update ${KEYS} set curr_user = 'another' where id = '<key>'`;
const UNUSED = `update ${KEYS} set curr_user = null where id = '<key>'`;
const REVOKED = `delete from ${KEYS} where id = '<key>'`;
const DENIED = `revoke all on table ${KEYS} from service_role;
  revoke usage on schema public from public, service_role`;
const SEED =
  `update ${KEYS} set curr_user = '${SEEDED.username}' where id = '${ID}2'`;
const SIMILAR = `${MOVED};
  update ${KEYS} set curr_user = ' O''BRIEN #8' where id = '${ID}2'`;
/** A key is lost, one is used, and one is used under a wrong name: <wrong name> becomes it. */
const DAMAGED = `
  delete from ${KEYS} where id = '${ID}2';
  update ${KEYS} set curr_user = 'used' where id = '${ID}3';
  update ${KEYS} set curr_user = 'wrongname' where id = '${ID}4'`;

/** Beginnings of the lines that are not run here. */
const LEFT_OUT = [
  /^(cd|git (clone|switch|pull|checkout|rev-parse|diff <commit>))/, // Work in a clone.
  /^npx -y deno@2.9.6 task /,
  RegExp(`^${pages.CLI}(start|functions serve|login|link)`), // Need Docker or an account.
  RegExp(`^${pages.CLI}db push --remote$`), // tests/deploy runs this and the next.
  RegExp(`^${pages.CLI}functions deploy check-username-active --use-api$`),
];

/** What a run of a snippet gives: how many rows; or a text in its output, or in its requests. */
type Result = number | string;

/**
 * SQL for what has happened to the keys; snippets, each by a text that no other under the heading
 * has, with its result, or one for each run; and what the function then responds about users.
 */
interface Work {
  after?: string;
  run: Record<string, Result | Result[]>;
  then?: Record<string, Expected>;
}

const DELETED = "/functions/check-username-active DELETE";
const UNLOCKED = { [NAME]: ACTIVE };
const LOCKED = { [NAME]: NOT_FOUND };
/** The tests of the snippets under each heading. */
const WORK: Record<string, Work[]> = {
  "Run it": [{ after: SEED, run: { "CaptainKirin": "HTTP/1.1 200" } }],
  "Deploy": [{ run: { "nobody": "HTTP/1.1 499" } }],
  "Operate check-username-active": [{ run: { "<name>": "HTTP/1.1 200" } }],
  "It works": [{ run: { "uuid": 1, "insert": 1, "delete": 1 } }],
  "Keys": [
    { run: { "group by": '"issued":4,"activated":2' } },
    { run: { "order by": 4, "generate_series": 2 } },
    { after: UNUSED, run: { "curr_user is null": [1, 0] } },
    { after: MOVED, run: { "where id = '<key>' returning id, curr_user": 1 } },
    { run: { "set curr_user = null": 1 }, then: LOCKED },
    { run: { "delete": 1 }, then: LOCKED },
    { after: REVOKED, run: { "values ('<key>'": 1 } },
  ],
  "Your back end": [{ after: UNUSED, run: { 'curl "': 1, "PATCH": [1, 0] } }],
  "Watch it": [{ run: { "logs --remote": "group by status" } }],
  "Back it up": [{
    after: REVOKED,
    run: { "db query": 4, "node": "4\n", "count(*)": '"count":4' },
    then: LOCKED,
  }],
  "Change the secret key": [{
    run: {
      "<new secret key>": "HTTP/1.1 200",
      '/api-keys"': "/v1/projects/ref/api-keys GET",
      "<old id>":
        '/v1/projects/ref/api-keys/oldid PATCH {"name":"default_old"}',
      "<new id>": '/v1/projects/ref/api-keys/newid PATCH {"name":"default"}',
    },
  }],
  "Move to another project": [
    { run: { "<old ref>": 5 } },
    { after: REVOKED, run: { "<new ref>": ["HTTP/1.1 201", "HTTP/1.1 200"] } },
  ],
  "There is no active key for this name": [
    {
      after: SIMILAR,
      run: { "as key": [3, '"same_product":false,"same_name":true'] },
      then: LOCKED,
    },
    { after: UNUSED, run: { "curr_user is null": [1, 0] } },
    { after: MOVED, run: { "returning id, curr_user": 1 } },
  ],
  '500, "Database error"': [{ run: { "--search": "'lookup_failed'" } }],
  "The secret key leaked": [
    { run: { "<leaked key>": "HTTP/1.1 401" } },
    { after: REVOKED, run: { "db query": 4, "git": NAME }, then: LOCKED },
  ],
  "A flood": [{ run: { "logs --remote": "by address", "delete": DELETED } }],
  "Keys are lost or wrong": [{
    after: DAMAGED,
    run: {
      "functions delete": DELETED,
      "create table": 0,
      "curl": "HTTP/1.1 201",
      "name_then": '"name_then":"lost","product_now":null',
      "<wrong name>": 1,
      "set curr_user = '<name>'": 1,
      "delete from": 1,
      "on conflict": 2,
      "not in (select": 1,
      "drop table public": 0,
    },
    then: { ...UNLOCKED, lost: ACTIVE, used: ACTIVE, wrongname: NOT_FOUND },
  }],
  "A refund": [{ run: { "delete": 1 }, then: LOCKED }],
  "A customer's data": [{ run: { "select": 1, "= null": 1 }, then: LOCKED }],
  "Log codes": [
    { after: DENIED, run: { "grant": 0 } },
    { run: { "notify": 0, "<pid>": 1, "pg_locks": 0 } },
  ],
};

const stack = await startStack();
Deno.test.afterAll(() => stack[Symbol.asyncDispose]());
const { service: { API_URL, SECRET_KEY }, exec } = stack;

const toText = ({ method, url }: Request, body = "") =>
  decodeURIComponent(`${url} ${method} ${body}`).replaceAll("+", " ");
/** Stands in for the Management API: repeats a request with the right token, or names the wrong. */
const platform = serveOnLoopback(async (request) => {
  const token = request.headers.get("Authorization");
  if (token !== "Bearer accesstoken") return new Response(`It has ${token}`);
  return new Response(toText(request, await request.text()));
});
Deno.test.afterAll(() => platform[Symbol.asyncDispose]());

const ask = (user: string) => check(PRODUCT, user, API_URL + FUNCTION_URL_PATH);

/** What placeholders become. Any other becomes its own words, without spaces. */
const VALUES: Record<string, string> = {
  "product": PRODUCT,
  "name": NAME,
  "key": `${ID}1`,
  "how many": "2",
  "pid": "0",
  "secret key": SECRET_KEY,
  "new secret key": SECRET_KEY,
};
const fill = (code: string) =>
  code.replaceAll("http://127.0.0.1:54321", API_URL)
    .replaceAll(/https:\/\/<(new )?ref>\.supabase\.co/g, API_URL)
    .replaceAll("https://api.supabase.com", platform.url)
    .replaceAll("../", "./") // Exports are beside the clone; here, in the test's folder.
    .replaceAll(
      /<([a-z ]+)>/g,
      (_, it) => VALUES[it] ?? it.replaceAll(" ", ""),
    );

const runSql = (sql: string) =>
  exec(fill(sql.replaceAll("<name>", NAME.replaceAll("'", "''"))));

async function runCli(line: string, cwd: URL) {
  const [command = "", file] = fill(line).split(" > ");
  const args = pages.cliArgs(command.replace(/--remote=\w+/, "--remote"));
  if (!file) {
    return (await runOnPlatform(args)).map((sent) => toText(sent)).join();
  }
  // tests/deploy runs the first export on the pages. This one has to equal it.
  assertEquals(args, await pages.cliCommand("db query"));
  return await writeRows(new URL(file, cwd), args.at(-1)!);
}

/** Writes the rows of a query to a file, as the CLI does, and returns what it wrote. */
async function writeRows(file: URL, sql: string) {
  const text = JSON.stringify(await runSql(sql), null, 2);
  await Deno.writeTextFile(file, text);
  return text;
}

async function runSnippet(code: string, cwd: URL): Promise<string> {
  if (code.startsWith("npx ")) return await runCli(code, cwd);
  if (!/^(curl|git|node) /.test(code)) {
    return JSON.stringify(await runSql(code));
  }
  // `git diff` ends with an error if the files differ.
  const { stdout } = await runLine(fill(code), { cwd })
    .catch((error) => code.startsWith("git") ? error : Promise.reject(error));
  return stdout;
}

const snippets = (await pages.readSnippets(...pages.OPERATORS))
  .filter(({ code }) => !LEFT_OUT.some((line) => line.test(code)));
const notRun = new Set(snippets);

for (const [heading, tests] of Object.entries(WORK)) {
  for (const { after = "", run, then = UNLOCKED } of tests) {
    const toRun = Object.entries(run).map(([text, result]) => {
      const found = snippets
        .filter((it) => it.heading === heading && it.code.includes(text));
      found.forEach((it) => notRun.delete(it));
      return { text, found, results: [result].flat() };
    });
    Deno.test(`operators: ${heading}: ${Object.keys(run)}`, async () => {
      await using folder = await makeTempFolder();
      await writeRows(new URL("keys-date.json", folder.url), ISSUE_KEYS);
      await runSql(after);

      for (const { text, found: [snippet, ...others], results } of toRun) {
        assert(snippet && others.length === 0, `No or two snippets: ${text}`);
        for (const result of results) {
          const output = await runSnippet(snippet.code, folder.url);
          if (typeof result === "string") assertStringIncludes(output, result);
          else assertEquals(JSON.parse(output).length, result, output);
        }
      }
      for (const [user, response] of Object.entries(then)) {
        await assertResponse(ask(user), response, user);
      }
    });
  }
}

Deno.test("operators: every snippet is run", () => {
  assertEquals([...notRun], []);
});

Deno.test("operators: back_end.js issues a key, and records its first use", async () => {
  Deno.env.set("SUPABASE_URL", API_URL);
  Deno.env.set("SUPABASE_SECRET_KEY", SECRET_KEY);
  const backEnd = await import("../../supabase/back_end.js");
  const user = "Bessie#4821";
  const id = await backEnd.issueKey(PRODUCT);
  const record = (product: string) => backEnd.recordFirstUse(id, product, user);
  assertEquals(await record(crypto.randomUUID()), false);
  assertEquals(await record(PRODUCT), true);
  assertEquals(await record(PRODUCT), false);
  await assertResponse(ask(user), ACTIVE);
  const invalid = backEnd.recordFirstUse("AAAA", PRODUCT, user);
  assertEquals((await invalid.catch((error) => error)).code, "22P02");
});
