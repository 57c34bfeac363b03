/** The code on the pages for operators runs in the pages' order, and does what they say. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { runOnPlatform } from "../support/management_api.ts";
import { cliArgs, OPERATORS, readSnippets } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { check } from "../support/requests.ts";

const PRODUCT = SEEDED.project_id;
const NAME = "O'Brien#1937";
const KEYS = "public.activation_keys";
const EXPORT = "public.exported_keys";

/** How lines begin that are not run here. */
const LEFT_OUT = [
  /^(cd|git (clone|switch|pull|checkout|rev-parse|diff <))/, // In a clone.
  /^npx -y deno@/, // Tasks of `deno.json`.
  /^npx \S+ (start|functions serve)/, // They need Docker.
  /^npx \S+ (login|link)/, // They need an account.
  /^npx \S+ db push/, // tests/deploy/migration_test.ts runs it.
];

/**
 * Snippets under one heading, a text in each of them ("again" is the one before, once more), what
 * each returns, and the function's status for `NAME` after each. A snippet returns the status that
 * `curl -i` prints, the number that `node` prints or `count(*)` selects, how many lines `git diff`
 * shows, or else how many rows it prints.
 */
type Step = [heading: string, texts: string[], returns: number, status: number];

/**
 * An operator's work, in the pages' order. A string is SQL that no page has: what happens between
 * two snippets. The `id` in a result, the strings' results included, is `<key>` from then on.
 */
const STORY: (Step | string)[] = [
  ["Run it", ["CaptainKirin"], 200, 499],
  ["Deploy", ["functions deploy"], 0, 499],
  ["Deploy", ["nobody"], 499, 499],
  ["Operate check-username-active", ["<name>"], 499, 499],
  ["It works", ["gen_random_uuid", "insert", "delete"], 1, 499],
  `truncate ${KEYS}`,
  ["Keys", ["group by project_id", "order by created_at"], 0, 499],
  ["Keys", ["generate_series"], 2, 499],
  ["Keys", ["curr_user is null"], 1, 200],
  ["Keys", ["again"], 0, 200],
  `update ${KEYS} set curr_user = 'Somebody'`,
  ["Keys", ["set curr_user = '<name>'"], 1, 200],
  ["Keys", ["set curr_user = null", "delete"], 1, 499],
  ["Keys", ["insert"], 1, 200],
  `truncate ${KEYS}`,
  ["Your back end", ["<product>"], 1, 499],
  ["Your back end", ["curr_user=is.null"], 1, 200],
  ["Your back end", ["again"], 0, 200],
  ["Watch it", ["logs"], 0, 200],
  ["Back it up", ["db query", "node", "count(*)"], 1, 200],
  ["Upgrade and go back", ["functions deploy"], 0, 200],
  ["Change the secret key", ["<new secret key>"], 200, 200],
  ["Change the secret key", ["api-keys", "<old id>", "<new id>"], 0, 200],
  ["Change the secret key", ["functions deploy"], 0, 200],
  ["Move to another project", ["functions deploy"], 0, 200],
  `insert into ${KEYS} (project_id, curr_user)
    select '<product>', unnest(array['lost', 'moved', 'revoked', null, null])`,
  ["Move to another project", ["db query"], 6, 200],
  `truncate ${KEYS}`,
  ["Move to another project", ["merge-duplicates"], 201, 200],
  ["Move to another project", ["again"], 200, 200],
  `update ${KEYS} set curr_user = 'o’BRIEN' where curr_user = '<name>' returning id`,
  ["There is no active key for this name", ["same_name"], 1, 499],
  // Now only the name leads to the customer's key.
  `update ${KEYS} set curr_user = ' o''brien #8' where id = '<key>';
    select gen_random_uuid() as id`,
  ["There is no active key for this name", ["again"], 1, 499],
  ["There is no active key for this name", ["curr_user is null"], 0, 499],
  `select id from ${KEYS} where curr_user = ' o''brien #8'`,
  ["There is no active key for this name", ["returning id"], 1, 200],
  ['500, "Database error"', ["logs"], 0, 200],
  ["The secret key leaked", ["functions deploy"], 0, 200],
  ["The secret key leaked", ["<leaked key>"], 401, 200],
  `update ${KEYS} set curr_user = 'moved 2' where curr_user = 'moved'`,
  ["The secret key leaked", ["db query"], 6, 200],
  ["The secret key leaked", ["git diff"], 2, 200],
  ["A flood", ["logs"], 0, 200],
  ["A flood", ["functions delete"], 0, 404],
  ["A flood", ["functions deploy"], 0, 200],
  // Since the first export: a first use, two keys that are gone, and wrong names.
  `update ${KEYS} set curr_user = 'first use'
    where id = (select id from ${KEYS} where curr_user is null limit 1)`,
  `delete from ${KEYS} where curr_user in ('revoked', 'lost')`,
  `update ${KEYS} set curr_user = 'wrong_name' where curr_user = '<name>' or curr_user is null`,
  ["Keys are lost or wrong", ["functions delete", "create table"], 0, 404],
  ["Keys are lost or wrong", ["rest/v1/exported_keys"], 201, 404],
  ["Keys are lost or wrong", ["name_then"], 6, 404],
  ["Keys are lost or wrong", ["<wrong name>"], 1, 404],
  `select id from ${KEYS} where curr_user = 'moved 2'`,
  ["Keys are lost or wrong", ["set curr_user = '<name>'"], 1, 404],
  `update ${EXPORT} set curr_user = 'moved 2' where id = '<key>';
    select id from ${EXPORT} where curr_user = 'revoked'`,
  ["Keys are lost or wrong", ["delete"], 1, 404],
  ["Keys are lost or wrong", ["on conflict"], 3, 404],
  ["Keys are lost or wrong", ["not in", "drop table"], 0, 404],
  ["Keys are lost or wrong", ["functions deploy"], 0, 200],
  `select id from ${KEYS} where curr_user = '<name>'`,
  ["A refund", ["delete"], 1, 499],
  `insert into ${KEYS} values (default, '<product>', '<name>') returning id`,
  ["A customer's data", ["select"], 1, 200],
  ["A customer's data", ["set curr_user = null"], 1, 499],
  ["Log codes", ["grant", "notify"], 0, 499],
  ["Log codes", ["pg_terminate_backend"], 1, 499],
  ["Log codes", ["pg_locks"], 0, 499],
];

/** Asks the function at this project about a user, and returns the status. */
async function ask(username: string, projectUrl: string) {
  const url = projectUrl + FUNCTION_URL_PATH;
  const response = await check(PRODUCT, username, url);
  await response.body?.cancel();
  return response.status;
}

Deno.test("operators: the code on the pages does what they say", async () => {
  await using stack = await startStack();
  await using folder = await makeTempFolder();
  const { service: { API_URL, SECRET_KEY }, exec, targets } = stack;
  const { edgeFunction } = targets;
  const sent: string[] = [];
  /** The Management API, and the platform without the function. */
  await using platform = serveOnLoopback(async ({ url, body }) => {
    sent.push(`${url.split("/").pop()} ${await new Response(body).text()}`);
    return Response.json([], { status: 404 });
  });

  const values: Record<string, string> = {
    "secret key": SECRET_KEY,
    "new secret key": SECRET_KEY,
    "product": PRODUCT,
    "how many": "2",
    "pid": "0",
  };
  /** Fills the placeholders. One without a value becomes its own words. */
  const fill = (code: string, name: string) =>
    code.replaceAll("https://api.supabase.com", platform.url)
      .replaceAll("http://127.0.0.1:54321", API_URL)
      .replaceAll(/https:..<(new )?ref>.supabase.co/g, API_URL)
      .replaceAll("../", "./")
      .replaceAll("<name>", name)
      .replaceAll(
        /<([a-z ]+)>/g,
        (_, words) => values[words] ?? words.replace(" ", "_"),
      );
  const countRows = (rows: Record<string, unknown>[]) => {
    if (rows[0]?.id) values.key = `${rows[0].id}`;
    return rows.length;
  };

  const runSql = async (code: string) => {
    const rows = await exec(fill(code, NAME.replaceAll("'", "''")));
    return Number(rows[0]?.count ?? countRows(rows));
  };
  const runShell = async (code: string) => {
    // `git diff` ends with an error if the files differ.
    const { stdout } = await runLine(fill(code, NAME), { cwd: folder.url })
      .catch((error) => error);
    if (code.startsWith("node")) return Number(stdout);
    if (code.startsWith("git")) return stdout.match(/^[+-] /gm)?.length;
    if (!code.startsWith("curl -i")) return countRows(JSON.parse(stdout));
    return Number(stdout.match(/^HTTP\/1.1 ([2-5]\d\d)/m)?.[1]);
  };
  const runCli = async (code: string) => {
    const [command = "", file] = fill(code, NAME).split(" > ");
    const args = cliArgs(command).filter((arg) => arg !== "--remote");
    if (file) {
      const rows = await exec(args.at(-1)!);
      const text = JSON.stringify(rows, null, 2);
      await Deno.writeTextFile(new URL(file, folder.url), text);
      return rows.length;
    }
    const deploys = code.includes("functions deploy");
    // tests/deploy/upload_test.ts deploys.
    if (!deploys) await runOnPlatform(args);
    if (deploys) targets.edgeFunction = edgeFunction;
    if (code.includes("functions delete")) targets.edgeFunction = platform;
    return 0;
  };
  const runSnippet = (code: string) => {
    if (code.startsWith("npx ")) return runCli(code);
    return /^(curl|git|node) /.test(code) ? runShell(code) : runSql(code);
  };

  const snippets = (await readSnippets(...OPERATORS))
    .filter(({ code }) => !LEFT_OUT.some((line) => line.test(code)));
  let code = "";
  for (const step of STORY) {
    if (typeof step === "string") {
      await runSql(step);
      continue;
    }
    const [heading, texts, ...expected] = step;
    for (const text of texts) {
      if (text !== "again") {
        const next = snippets.shift();
        const found = next?.heading === heading && next.code.includes(text);
        assert(found, `${heading}: no "${text}" in ${next?.code}`);
        code = next.code;
      }
      const seen = [await runSnippet(code), await ask(NAME, API_URL)];
      assertEquals(seen, expected, `${heading}: ${code}`);
    }
  }
  assertEquals(snippets, []);
  const users = [
    "lost",
    "moved 2",
    "first use",
    "moved",
    "revoked",
    "wrong_name",
  ];
  const statuses = await Promise.all(users.map((user) => ask(user, API_URL)));
  assertEquals(statuses, [200, 200, 200, 499, 499, 499]);
  assertMatch(
    sent.join(),
    /old_id {"name":"default_old"},new_id {"name":"default"}/,
  );
});

Deno.test("back_end.js: a key is issued, and its first use recorded once", async () => {
  await using stack = await startStack();
  const { API_URL, SECRET_KEY } = stack.service;
  Deno.env.set("SUPABASE_URL", API_URL);
  Deno.env.set("SUPABASE_SECRET_KEY", SECRET_KEY);
  const { issueKey, recordFirstUse } = await import(
    "../../supabase/back_end.js"
  );
  const key = await issueKey(PRODUCT);
  assertEquals(await recordFirstUse(key, PRODUCT, NAME), true);
  assertEquals(await recordFirstUse(key, PRODUCT, NAME), false);
  const wrong = recordFirstUse("AAAA", PRODUCT, NAME);
  assertEquals(await wrong.catch(({ code }) => code), "22P02");
  assertEquals(await ask(NAME, API_URL), 200);
});
