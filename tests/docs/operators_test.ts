/** The code for operators is run in the pages' order, with placeholders filled. */
import { assertEquals, assertMatch } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { runOnPlatform } from "../support/management_api.ts";
import { cliArgs, OPERATORS, readSnippets } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { check } from "../support/requests.ts";

const KEYS = "public.activation_keys";
const NAME = "O'Brien#1937";
const NAMED = `where curr_user = 'O''Brien#1937'`;
const PRODUCT = SEEDED.project_id;

/** Lines for a person, or for other tests. */
const ELSEWHERE =
  /^(cd|git (?!diff --no)|npx -y|npx \S+ (start|functions serve|login|link|db push))/;

/**
 * By heading, what each snippet does. `1 200`: it returns 1 (a status, a count, or how many rows),
 * and the function then says 200 of `NAME`. `again` runs the same snippet once more. SQL that ends
 * in `;` runs before the next snippet, or before the repeat.
 */
const STORY = {
  "Run it": "200 499",
  "Deploy": "499 499",
  "Operate check-username-active": "499 499",
  "It works": "1 499, 1 499, 1 499",
  "Keys": `truncate ${KEYS}; 0 499, 0 499, 2 499, 1 200, again 0 200,
    update ${KEYS} set curr_user = 'Somebody'; 1 200, 1 499, 1 499, 1 200`,
  "Your back end": `truncate ${KEYS}; 1 499, 1 200, again 0 200`,
  "Back it up": "1 200, 1 200, 1 200",
  "Change the secret key": "200 200, 1 200, 1 200, 1 200",
  "Move to another project": `insert into ${KEYS} (project_id, curr_user)
      select '${PRODUCT}', unnest(array['lost', 'moved', 'revoked', null, null]);
    6 200, truncate ${KEYS}; 201 200, again 200 200`,
  "There is no active key for this name": `
    update ${KEYS} set curr_user = 'o’BRIEN' ${NAMED} returning id; 1 499,
    update ${KEYS} set curr_user = ' o''brien #8' where id = '<key>';
    select gen_random_uuid() as id; again 1 499,
    select id from ${KEYS} where curr_user = ' o''brien #8'; 0 499, 1 200`,
  "The secret key leaked": `401 200,
    update ${KEYS} set curr_user = 'moved 2' where curr_user = 'moved'; 6 200, 2 200`,
  "Keys are lost or wrong": `update ${KEYS} set curr_user = 'first use'
      where id = (select id from ${KEYS} where curr_user is null limit 1);
    delete from ${KEYS} where curr_user in ('revoked', 'lost');
    update ${KEYS} set curr_user = 'wrongname' ${NAMED} or curr_user is null;
    0 404, 201 404, 6 404, 1 404,
    select id from ${KEYS} where curr_user = 'moved 2'; 1 404,
    update public.exported_keys set curr_user = 'moved 2' where id = '<key>';
    select id from public.exported_keys where curr_user = 'revoked'; 1 404,
    3 404, 0 404, 0 404`,
  "A refund": `select id from ${KEYS} ${NAMED}; 1 499`,
  "A customer's data": `insert into ${KEYS} values
    (default, '${PRODUCT}', '<name>') returning id; 1 200, 1 499`,
  "Log codes": "0 499, 0 499, 1 499, 0 499",
};

/** What happens, what comes back, or that the same is run once more. */
const PARTS = /again|\d+ \d+|[a-z][^;]*;/g;

Deno.test("operators: the code on the pages does what they say", async () => {
  await using stack = await startStack();
  await using folder = await makeTempFolder();
  const { service: { API_URL, SECRET_KEY }, exec, targets } = stack;
  const { edgeFunction } = targets;
  const sent: string[] = [];
  /** A stand-in for the Management API, and for the platform without the function. */
  await using platform = serveOnLoopback(async (request) => {
    sent.push(`${request.url.split("/").pop()} ${await request.text()}`);
    return Response.json(["NOT_FOUND"], { status: 404 });
  });
  const ask = async (name: string) => {
    const response = await check(PRODUCT, name, API_URL + FUNCTION_URL_PATH);
    await response.body?.cancel();
    return response.status;
  };
  const values: Record<string, string> = {
    "http://127.0.0.1:54321": API_URL,
    "https://api.supabase.com": platform.url,
    "<secret key>": SECRET_KEY,
    "<new secret key>": SECRET_KEY,
    "<product>": PRODUCT,
    "<how many>": "2",
    "<pid>": "0",
    "../": "./",
  };
  const fill = (code: string, name: string) =>
    Object.entries({ ...values, "<name>": name })
      .reduce((text, [old, by]) => text.replaceAll(old, () => by), code)
      .replaceAll(/https:..<(new )?ref>.supabase.co/g, API_URL)
      .replaceAll(/<(\w+) ?(\w*)>/g, "$1$2");
  const runSql = async (code: string) => {
    const rows = await exec(fill(code, NAME.replaceAll("'", "''")));
    if (rows[0]?.id) values["<key>"] = `${rows[0].id}`;
    return Number(rows[0]?.count ?? rows.length);
  };
  const runShell = async (code: string) => {
    // Differences are an error of `git diff`.
    const { stdout } = await runLine(fill(code, NAME), { cwd: folder.url })
      .catch((error) => error);
    if (code.startsWith("git")) return stdout.match(/^[+-](?![+-])/gm)?.length;
    const status = stdout.match(/.*^HTTP\/1.1 (\d+)/ms)?.[1];
    if (code.startsWith("node") || status) return Number(status ?? stdout);
    const keys = JSON.parse(stdout);
    if (keys[0]?.id) values["<key>"] = keys[0].id;
    return keys.length;
  };
  const runCli = async (code: string) => {
    const [, sql = "", file] = fill(code, NAME).match(/"(.*)" > (.*)/) ?? [];
    if (file) {
      const rows = await exec(sql);
      const path = new URL(file, folder.url);
      await Deno.writeTextFile(path, JSON.stringify(rows, null, 2));
      return rows.length;
    }
    targets.edgeFunction = /delete/.test(code) ? platform : edgeFunction!;
    if (/deploy/.test(code)) return;
    await runOnPlatform(cliArgs(code).filter((arg) => arg !== "--remote"));
  };

  const story = new Map(
    Object.entries(STORY).map(([key, text]) => [key, text.match(PARTS) ?? []]),
  );
  for (const { heading, code } of await readSnippets(...OPERATORS)) {
    if (ELSEWHERE.test(code)) continue;
    const [kind = ""] = code.match(/^(npx|curl|git|node) /) ?? [];
    const runIt = !kind ? runSql : kind === "npx " ? runCli : runShell;
    const told = story.get(heading) ?? [];
    // Once, and once more for each `again`.
    do {
      while (told[0]?.endsWith(";")) await runSql(told.shift()!);
      if (told[0] === "again") told.shift();
      const result = await runIt(code);
      if (result === undefined) break; // It returns nothing.
      const seen = `${result} ${await ask(NAME)}`;
      assertEquals(seen, told.shift(), `${heading}: ${code}`);
    } while (told.find((part) => !part.endsWith(";")) === "again");
  }
  assertEquals([...story.values()].flat(), []);
  const users = "lost,moved 2,first use,moved,revoked,wrongname".split(",");
  const statuses = await Promise.all(users.map(ask));
  assertEquals(statuses, [200, 200, 200, 499, 499, 499]);
  assertMatch(sent.join(), /default_old.*{"name":"default"}/);

  const script =
    `import { issueKey, recordFirstUse } from "./supabase/back_end.js";
    const key = await issueKey("${PRODUCT}");
    for (const id of [key, key, "AAAA"]) console.log(
      await recordFirstUse(id, "${PRODUCT}", "Ed").catch((e) => e.code)); Deno.exit();`;
  const env = { SUPABASE_URL: API_URL, SUPABASE_SECRET_KEY: SECRET_KEY };
  const options = { cwd: PROJECT, env };
  const { stdout } = await run(Deno.execPath(), ["eval", script], options);
  assertEquals([stdout, await ask("Ed")], ["true\nfalse\n22P02", 200]);
});
