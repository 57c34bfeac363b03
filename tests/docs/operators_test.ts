/** The code on the pages for operators runs in the pages' order, and does what they say. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { runOnPlatform } from "../support/management_api.ts";
import {
  cliArgs,
  cliCommand,
  OPERATORS,
  readSnippets,
} from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { check } from "../support/requests.ts";

const PRODUCT = SEEDED.project_id;
const NAME = "O'Brien#1937";
const KEYS = "public.activation_keys";

/** Beginnings of the lines that are not run here. */
const LEFT_OUT = [
  /^(cd|git (clone|switch|pull|checkout|rev-parse|diff <commit>))/, // Work in a clone.
  /^npx -y deno@/, // Tasks of `deno.json`.
  /^npx \S+ (start|functions serve|login|link)/, // Need Docker or an account.
  /^npx \S+ db push --remote$/, // tests/deploy/database_test.ts runs it.
];

/**
 * A heading; for each snippet under it, in order, a text in it and the number that it returns (a
 * list, if it is run twice); and the function's status for `NAME` after each run.
 *
 * A snippet returns the status that `curl -i` prints, the number that `node` prints or `count(*)`
 * selects, how many lines `git diff` shows, or else how many rows come back. A command of the CLI
 * that prints no rows returns 0. The SQL of `logs` is not checked.
 */
type Step = [string, { [text: string]: number | number[] }, status: number];

/**
 * An operator's work, in the pages' order. A string is SQL that no page has: what happens between
 * two snippets. Where rows with an `id` come back, `<key>` becomes that of the first row.
 */
const STORY: (Step | string)[] = [
  ["Run it", { "CaptainKirin": 200 }, 499],
  ["Deploy", { "functions deploy": 0, "nobody": 499 }, 499],
  ["Operate check-username-active", { "<name>": 499 }, 499],
  ["It works", { "gen_random_uuid": 1, "insert": 1, "delete": 1 }, 499],
  ["Keys", { "group by": 2, "order by": 4 }, 499],
  `truncate ${KEYS}`,
  ["Keys", { "generate_series": 2 }, 499],
  ["Keys", { "curr_user is null": [1, 0] }, 200],
  `update ${KEYS} set curr_user = 'Somebody'`,
  ["Keys", { "set curr_user = '<name>'": 1 }, 200],
  ["Keys", { "set curr_user = null": 1, "delete": 1 }, 499],
  ["Keys", { "insert": 1 }, 200],
  `truncate ${KEYS}`,
  ["Your back end", { "<product>": 1 }, 499],
  ["Your back end", { "curr_user=is.null": [1, 0] }, 200],
  ["Watch it", { "logs": 0 }, 200],
  ["Back it up", { "db query": 1, "node": 1, "count(*)": 1 }, 200],
  ["Upgrade and go back", { "functions deploy": 0 }, 200],
  ["Change the secret key", { "<new secret key>": 200, "api-keys": 0 }, 200],
  ["Change the secret key", { "<old id>": 0, "<new id>": 0, "deploy": 0 }, 200],
  `insert into ${KEYS} (project_id, curr_user) select '<product>',
    unnest(array[' O''BRIEN #8', 'lost', 'moved', 'revoked', null, null])`,
  ["Move to another project", { "functions deploy": 0, "db query": 7 }, 200],
  `truncate ${KEYS}`,
  ["Move to another project", { "merge-duplicates": [201, 200] }, 200],
  // Sets <key>. The page's query finds this row by its id, and ' O''BRIEN #8' by its name: 2.
  `update ${KEYS} set curr_user = 'another' where curr_user = '<name>' returning id`,
  ["There is no active key for this name", { "as key": 2, "is null": 0 }, 499],
  ["There is no active key for this name", { "returning id": 1 }, 200],
  ['500, "Database error"', { "logs": 0 }, 200],
  ["The secret key leaked", { "deploy": 0, "<leaked key>": 401 }, 200],
  `update ${KEYS} set curr_user = 'moved 2' where curr_user = 'moved'`,
  ["The secret key leaked", { "db query": 7, "git diff": 2 }, 200],
  ["A flood", { "logs": 0 }, 200],
  ["A flood", { "functions delete": 0 }, 404],
  ["A flood", { "functions deploy": 0 }, 200],
  // Since the first export: a first use, two deletions, and <wrong name>, filled as "wrongname".
  `update ${KEYS} set curr_user = 'first use'
    where id = (select id from ${KEYS} where curr_user is null limit 1)`,
  `delete from ${KEYS} where curr_user in ('revoked', 'lost')`,
  `update ${KEYS} set curr_user = 'wrongname' where curr_user = '<name>' or curr_user is null`,
  ["Keys are lost or wrong", { "functions delete": 0, "create": 0 }, 404],
  ["Keys are lost or wrong", { "curl": 201, "name_then": 6, "wrong": 1 }, 404],
  `select id from ${KEYS} where curr_user = 'moved 2'`,
  ["Keys are lost or wrong", { "set curr_user = '<name>'": 1 }, 404],
  `update public.exported_keys set curr_user = 'moved 2' where id = '<key>';
    select id from public.exported_keys where curr_user = 'revoked'`,
  ["Keys are lost or wrong", { "delete": 1, "on conflict": 3 }, 404],
  ["Keys are lost or wrong", { "not in": 0, "drop table": 0 }, 404],
  ["Keys are lost or wrong", { "functions deploy": 0 }, 200],
  `select id from ${KEYS} where curr_user = '<name>'`,
  ["A refund", { "delete": 1 }, 499],
  `insert into ${KEYS} values (default, '<product>', '<name>') returning id`,
  ["A customer's data", { "select": 1 }, 200],
  ["A customer's data", { "set curr_user = null": 1 }, 499],
  ["Log codes", { "grant": 0, "notify": 0, "terminate": 1, "locks": 0 }, 499],
];

Deno.test("operators: the code on the pages does what they say", async () => {
  await using stack = await startStack();
  await using folder = await makeTempFolder();
  const { service: { API_URL, SECRET_KEY }, exec, targets } = stack;
  const { edgeFunction } = targets;
  let sent = "";
  /** Answers 404: as the Management API for curl lines, and in place of a deleted function. */
  await using platform = serveOnLoopback(async (request) => {
    sent += `${request.method} ${request.url} ${await request.text()}\n`;
    return Response.json([], { status: 404 });
  });
  const ask = async (name: string) => {
    const url = API_URL + FUNCTION_URL_PATH;
    const { status, body } = await check(PRODUCT, name, url);
    await body?.cancel();
    return status;
  };

  let key = "";
  const fill = (code: string, name: string) =>
    code.replaceAll("http://127.0.0.1:54321", API_URL)
      .replaceAll(/https:..<(new )?ref>.supabase.co/g, API_URL)
      .replaceAll("https://api.supabase.com", platform.url)
      .replaceAll("../", "./")
      .replaceAll(/<(new )?secret key>/g, SECRET_KEY)
      .replaceAll("<product>", PRODUCT)
      .replaceAll("<name>", name)
      .replaceAll("<key>", key)
      .replaceAll("<how many>", "2")
      .replaceAll("<pid>", "0")
      // Any other placeholder becomes its own words.
      .replaceAll(/<(\w+) ?(\w*)>/g, "$1$2");
  const countRows = (rows: Record<string, unknown>[]) => {
    if (rows[0]?.id) key = `${rows[0].id}`;
    return rows.length;
  };

  const runSql = async (code: string) => {
    const rows = await exec(fill(code, NAME.replaceAll("'", "''")));
    return Number(rows[0]?.count ?? countRows(rows));
  };
  const runShell = async (code: string) => {
    // `git diff` ends with an error if the files differ.
    const { stdout } = await runLine(fill(code, NAME), { cwd: folder.url })
      .catch((error) => code.startsWith("git") ? error : Promise.reject(error));
    if (code.startsWith("node")) return Number(stdout);
    if (code.startsWith("git")) return stdout.match(/^[+-] /gm)?.length;
    if (!code.startsWith("curl -i")) return countRows(JSON.parse(stdout));
    return Number(stdout.match(/^HTTP\/1.1 ([2-5]\d\d)/m)?.[1]);
  };
  const runCli = async (code: string) => {
    const [command = "", file] = fill(code, NAME).split(" > ");
    const dropTarget = (args: string[]) =>
      args.filter((arg) => !/^--remote\b/.test(arg));
    const args = dropTarget(cliArgs(command));
    const name = args.slice(0, 2).join(" ");
    if (/^(db query|functions deploy)$/.test(name)) {
      // tests/deploy runs the first of these on the pages. The others have to be the same.
      assertEquals(args, dropTarget(await cliCommand(name)));
    } else {
      const writes = await runOnPlatform(args);
      sent += writes.map(({ method, url }) => `${method} ${url}\n`).join("");
    }
    if (args[1] === "deploy") targets.edgeFunction = edgeFunction;
    if (args[1] === "delete") targets.edgeFunction = platform;
    if (file) {
      const rows = await exec(args.at(-1)!);
      const text = JSON.stringify(rows, null, 2);
      await Deno.writeTextFile(new URL(file, folder.url), text);
      return rows.length;
    }
    return 0;
  };
  const runSnippet = (code: string) => {
    if (code.startsWith("npx ")) return runCli(code);
    return /^(curl|git|node) /.test(code) ? runShell(code) : runSql(code);
  };

  const snippets = (await readSnippets(...OPERATORS))
    .filter(({ code }) => !LEFT_OUT.some((line) => line.test(code)));
  for (const step of STORY) {
    if (typeof step === "string") {
      await runSql(step);
      continue;
    }
    const [heading, expected, status] = step;
    for (const [text, returns] of Object.entries(expected)) {
      const next = snippets.shift();
      const found = next?.heading === heading && next.code.includes(text);
      assert(found, `${heading}: no "${text}" in ${JSON.stringify(next)}`);
      for (const result of [returns].flat()) {
        const seen = [await runSnippet(next.code), await ask(NAME)];
        assertEquals(seen, [result, status], `${heading}: ${next.code}`);
      }
    }
  }
  assertEquals(snippets, []);
  const users = "lost,moved 2,first use,moved,revoked,wrongname".split(",");
  const statuses = await Promise.all(users.map(ask));
  assertEquals(statuses, [200, 200, 200, 499, 499, 499]);
  assertMatch(sent, /PATCH \S+oldid .*_old"}\nPATCH \S+newid .*"default"}/);
  assertEquals(sent.match(/^DELETE \S+check-username-active$/gm)?.length, 2);

  Deno.env.set("SUPABASE_URL", API_URL);
  Deno.env.set("SUPABASE_SECRET_KEY", SECRET_KEY);
  const backEnd = await import("../../supabase/back_end.js");
  const id = await backEnd.issueKey(PRODUCT);
  for (const recorded of [true, false]) {
    const result = await backEnd.recordFirstUse(id, PRODUCT, NAME);
    assertEquals([result, await ask(NAME)], [recorded, 200]);
  }
  const invalid = backEnd.recordFirstUse("AAAA", PRODUCT, NAME);
  assertEquals((await invalid.catch((error) => error)).code, "22P02");
});
