/** The code on the pages for operators does what they say. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE, type Expected, NOT_FOUND } from "../support/contract.ts";
import { runOnPlatform } from "../support/management_api.ts";
import {
  CLI,
  cliArgs,
  cliCommand,
  OPERATORS,
  readSnippets,
} from "../support/pages.ts";
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

// What may happen after that export.
const NOTHING = "";
const MOVED = `update ${KEYS} set curr_user = 'another' where id = '<key>'`;
const UNUSED = `update ${KEYS} set curr_user = null where id = '<key>'`;
const REVOKED = `delete from ${KEYS} where id = '<key>'`;
const DENIED = `revoke all on table ${KEYS} from service_role;
  revoke usage on schema public from public, service_role`;
const ALL_SEEDED = `update ${KEYS} set curr_user = '${SEEDED.username}'`;
const SIMILAR = `${MOVED};
  update ${KEYS} set curr_user = ' O''BRIEN #8' where id = '${ID}2'`;
/** A key is lost, one is used, and one is used under <wrong name>, filled in as "wrongname". */
const DAMAGED = `
  delete from ${KEYS} where id = '${ID}2';
  update ${KEYS} set curr_user = 'first use' where id = '${ID}3';
  update ${KEYS} set curr_user = 'wrongname' where id = '${ID}4'`;

/** Beginnings of the lines that are not run here. */
const LEFT_OUT = [
  /^(cd|git (clone|switch|pull|checkout|rev-parse|diff <commit>))/, // Work in a clone.
  /^npx -y deno@2.9.6 task /,
  RegExp(`^${CLI}(start|functions serve|login|link)`), // Need Docker or an account.
  RegExp(`^${CLI}db push --remote$`), // tests/deploy runs it, and the next.
  RegExp(`^${CLI}functions deploy check-username-active --use-api$`),
];

/**
 * A text in a snippet; and its result, or one for each time it is run: how many rows it returns, or
 * a text in what it returns or prints, or in its requests to the platform.
 */
type Snippet = [text: string, ...results: (number | string)[]];

/**
 * A heading; SQL for what has happened; the next snippets under the heading; and what the function
 * responds about users after them.
 */
type Work = [
  heading: string,
  happened: string,
  snippets: Snippet[],
  then?: Record<string, Expected>,
];

const DELETED = "/functions/check-username-active DELETE";
const UNLOCKED = { [NAME]: ACTIVE };
const LOCKED = { [NAME]: NOT_FOUND };
const WORK: Work[] = [
  ["Run it", ALL_SEEDED, [["CaptainKirin", "HTTP/1.1 200"]], LOCKED],
  ["Deploy", NOTHING, [["nobody", "HTTP/1.1 499"]]],
  ["Operate check-username-active", NOTHING, [["curl", "HTTP/1.1 200"]]],
  ["It works", NOTHING, [["uuid", 1], ["insert", 1], ["delete", 1]]],
  ["Keys", NOTHING, [["group by", '"issued":4,"activated":2']]],
  ["Keys", NOTHING, [["order by", 4], ["generate", 2]]],
  ["Keys", UNUSED, [["'<product>' and curr_user is null", 1, 0]]],
  ["Keys", MOVED, [["set curr_user = '<name>'", 1]]],
  ["Keys", NOTHING, [["set curr_user = null", 1]], LOCKED],
  ["Keys", NOTHING, [["delete", 1]], LOCKED],
  ["Keys", REVOKED, [["insert", 1]]],
  ["Your back end", UNUSED, [["project_id", 1], ["&project_id", 1, 0]]],
  ["Watch it", NOTHING, [["logs --remote", "group by status"]]],
  [
    "Back it up",
    REVOKED,
    [["query", 4], ["node", "4\n"], ["*", ":4"]],
    LOCKED,
  ],
  ["Change the secret key", NOTHING, [
    ["<new secret key>", "HTTP/1.1 200"],
    ["api-keys", "/v1/projects/ref/api-keys GET"],
    [
      "<old id>",
      '/v1/projects/ref/api-keys/oldid PATCH {"name":"default_old"}',
    ],
    ["<new id>", '/v1/projects/ref/api-keys/newid PATCH {"name":"default"}'],
  ]],
  ["Move to another project", NOTHING, [["<old ref>", 5]]],
  ["Move to another project", REVOKED, [
    ["<new ref>", "HTTP/1.1 201", "HTTP/1.1 200"],
  ]],
  [
    "There is no active key for this name",
    SIMILAR,
    [["as key", 3, '"same_product":false,"same_name":true']],
    LOCKED,
  ],
  ["There is no active key for this name", UNUSED, [["is null", 1, 0]]],
  ["There is no active key for this name", MOVED, [["update", 1]]],
  ['500, "Database error"', NOTHING, [["--remote", "'lookup_failed'"]]],
  ["The secret key leaked", NOTHING, [["curl", "HTTP/1.1 401"]]],
  ["The secret key leaked", REVOKED, [["query", 4], ["git", NAME]], LOCKED],
  ["A flood", NOTHING, [["logs --remote", "by address"], ["delete", DELETED]]],
  [
    "Keys are lost or wrong",
    DAMAGED,
    [
      ["functions delete", DELETED],
      ["enable row level security; revoke all on", 0],
      ["curl", "HTTP/1.1 201"],
      ["name_then", '"name_then":"lost","product_now":null'],
      ["<wrong name>", 1],
      ["update public.exported_keys", 1],
      ["delete from", 1],
      ["on conflict", 2],
      ["not in", 1],
      ["drop table", 0],
    ],
    { lost: ACTIVE, "first use": ACTIVE, wrongname: NOT_FOUND, ...UNLOCKED },
  ],
  ["A refund", NOTHING, [["delete", 1]], LOCKED],
  ["A customer's data", NOTHING, [["select", 1], ["= null", 1]], LOCKED],
  ["Log codes", DENIED, [["grant", 0]]],
  ["Log codes", NOTHING, [["notify", 0], ["<pid>", 1], ["locks", 0]]],
];

const stack = await startStack();
Deno.test.afterAll(() => stack[Symbol.asyncDispose]());
const { service: { API_URL, SECRET_KEY }, exec } = stack;

const toText = ({ method, url }: Request, body = "") =>
  decodeURIComponent(`${url} ${method} ${body}`).replaceAll("+", " ");
/** Stands in for the Management API. It repeats what it gets with the right token. */
const platform = serveOnLoopback(async (request) => {
  const token = request.headers.get("Authorization");
  if (token !== "Bearer accesstoken") return new Response(`It has ${token}`);
  return new Response(toText(request, await request.text()));
});
Deno.test.afterAll(() => platform[Symbol.asyncDispose]());

const ask = (user: string) => check(PRODUCT, user, API_URL + FUNCTION_URL_PATH);

/** What placeholders become. Any other becomes its own words, without the space. */
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
    .replaceAll(/<([a-z ]+)>/g, (_, it) => VALUES[it] ?? it.replace(" ", ""));

const runSql = (sql: string) =>
  exec(fill(sql.replaceAll("<name>", NAME.replaceAll("'", "''"))));

async function runCli(line: string, cwd: URL) {
  const [command = "", file] = fill(line).split(" > ");
  const args = cliArgs(command.replace(/--remote=\w+/, "--remote"));
  if (!file) {
    return (await runOnPlatform(args)).map((sent) => toText(sent)).join();
  }
  // tests/deploy runs the first export on the pages. This one has to equal it.
  assertEquals(args, await cliCommand("db query"));
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

const toRun = (await readSnippets(...OPERATORS))
  .filter(({ code }) => !LEFT_OUT.some((line) => line.test(code)));
/** The snippets by heading. Each test takes its own from the front. */
const left = Map.groupBy(toRun, ({ heading }) => heading);

for (const [heading, happened, snippets, then = UNLOCKED] of WORK) {
  const codes = left.get(heading)?.splice(0, snippets.length) ?? [];
  Deno.test(`operators: ${heading}: ${snippets[0]?.[0]}`, async () => {
    await using folder = await makeTempFolder();
    await writeRows(new URL("keys-date.json", folder.url), ISSUE_KEYS);
    await runSql(happened);

    for (const [nth, [text, ...results]] of snippets.entries()) {
      const code = codes[nth]?.code ?? "";
      assertStringIncludes(code, text);
      for (const result of results) {
        const output = await runSnippet(code, folder.url);
        if (typeof result === "string") assertStringIncludes(output, result);
        else assertEquals(JSON.parse(output).length, result, output);
      }
    }
    for (const [user, response] of Object.entries(then)) {
      await assertResponse(ask(user), response, user);
    }
  });
}

Deno.test("operators: every snippet is run", () => {
  assertEquals([...left.values()].flat(), []);
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
