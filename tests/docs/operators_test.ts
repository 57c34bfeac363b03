/** The code for operators: it is run as it stands on the pages, and does what they say. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { runOnPlatform } from "../support/management_api.ts";
import { cliArgs, OPERATORS, readSnippets } from "../support/pages.ts";
import { check } from "../support/requests.ts";
import { runLine } from "../support/processes.ts";

const KEYS = "public.activation_keys";
const NAME = "Amelia#1937";
const PRODUCT = SEEDED.project_id;
const SECOND = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";

/** Lines for the CLI; and lines for other tests, or for a person to answer. */
const RUN_BY_CLI = /^npx supabase.* (logs|functions delete) /;
const ELSEWHERE = /^(git|cd|npx.* (start|login|link|db|migration|deploy))\b/;

/** What the dashboard does with a file of 40,000 keys. An empty name may become null, or "". */
const CSV = `insert into public.imported_keys (code, project_id, curr_user)
  select n, '${PRODUCT}', case n when 0 then ' ${NAME} ' when 1 then '' when 2 then null
    else 'user ' || n end from generate_series(0, 39999) as n`;

/** Statuses of `NAME` for `PRODUCT` and for `SECOND`. */
const NEITHER = [499, 499], FIRST = [200, 499], BOTH = [200, 200];

/**
 * SQL, or what finds it on the pages; how many rows it returns; the statuses of `NAME` then; and
 * the first letters of `this_key`, `this_product` and `this_name` in "What the table knows".
 */
const STEPS: [sql: string, rows: number, then: number[], known?: string][] = [
  ["-- Issue keys", 1, NEITHER, "ttn"],
  ["Record its", 1, FIRST, "ttt"],
  ["Record its", 0, FIRST, "ttt"],
  ["-- Move it", 1, NEITHER, "ttf"],
  ["List the keys", 1, NEITHER, "ttf"],
  [`update ${KEYS} set project_id = id`, 0, NEITHER, "tff"],
  ["List your products", 1, NEITHER, "tff"],
  ["-- Revoke it", 1, NEITHER],
  ["-- Put back a key", 1, FIRST, "ttt"],
  ["-- Revoke it", 1, NEITHER],
  ["-- Issue a bundle", 2, NEITHER, "ttn"],
  ["the bundle's", 2, BOTH, "ttt"],
  ["-- Revoke it", 1, [499, 200], "fft"],
  ["-- Erase it", 1, NEITHER],
  ["-- Give it", 1, NEITHER],
  ["-- Replace the keys", 1, NEITHER],
  ["-- A column for the codes", 0, NEITHER],
  [CSV, 0, NEITHER],
  ["-- Add its keys", 40_000, FIRST, "ftt"],
  ["-- Add its keys", 0, FIRST, "ftt"],
  ["remove the file's", 0, FIRST, "ftt"],
  [`update ${KEYS} set curr_user=null where code='0' returning 1`, 1, NEITHER],
  ["-- Issue by code", 1, NEITHER],
  ["Record its", 1, FIRST, "ftt"],
];

Deno.test("operators: the code on the pages does what they say", async (t) => {
  const { snippets, left, take } = await readSnippets(OPERATORS);
  await using stack = await startStack();
  await using folder = await makeTempFolder();
  const { service: { API_URL, SECRET_KEY }, connection, targets } = stack;
  const { edgeFunction } = targets;
  const sent: string[] = [];
  /** A stand-in for the Management API, and for the platform without the function. */
  await using platform = serveOnLoopback(async (request) => {
    sent.push(`${request.method} ${request.url} ${await request.text()}`);
    return Response.json({ code: "NOT_FOUND" }, { status: 404 });
  });
  const exec = async (sql: string): Promise<Record<string, unknown>[]> => {
    const results = await connection.driver.exec(sql);
    await connection.introspect(); // As the hosted Data API does by itself.
    return results.at(-1)?.rows ?? [];
  };
  // What a line says, and what replaces it.
  const here = {
    "https://<ref>.supabase.co": API_URL,
    "https://<new ref>.supabase.co": API_URL,
    "http://127.0.0.1:54321": API_URL,
    "https://api.supabase.com": platform.url,
    "<secret key>": SECRET_KEY,
    "<new secret key>": SECRET_KEY,
    "../keys-<date>.json": "keys.json",
    "../<file>.json": "keys.json",
  };
  const shell = async (text: string, values = {}) => {
    const line = take(text, { ...here, ...values });
    return (await runLine(line, { cwd: folder.url })).stdout;
  };
  /** The last status: before a long body, curl gets a 100. */
  const statusOf = async (text: string, values = {}) =>
    Number((await shell(text, values)).match(/.*^HTTP\/1.1 (\d+)/ms)?.[1]);
  const ask = async (name: string, product = PRODUCT) => {
    const response = await check(product, name, API_URL + FUNCTION_URL_PATH);
    await response.body?.cancel();
    return response.status;
  };

  await t.step("keys, a bundle, an erasure, and CSV", async () => {
    assertEquals(await statusOf("CaptainKirin"), 200);
    assertEquals(await statusOf("limit=1"), 200);
    assertEquals(await statusOf('\\"nobody'), 499);
    await exec(take("-- Give 'nobody'"));
    assertEquals(await statusOf('\\"nobody'), 200);
    await exec(`${take("gen_random_uuid();")} truncate ${KEYS}`);
    const values = { "<key>": "", "<second key>": "", "<code>": "A" };
    for (const [sql, rows, then, known] of STEPS) {
      const isSql = /^(insert|update)/.test(sql);
      const found = await exec(isSql ? sql : take(sql, values));
      if (sql.startsWith("-- Issue")) {
        values["<key>"] = `${found[0]?.id}`.toUpperCase();
        values["<second key>"] = `${(found[1] ?? found[0])?.id}`;
      }
      const [row] = await exec(take("-- What the table knows", values));
      const seen = row && Object.values(row).map((cell) => `${cell}`[0]);
      const now = [await ask(NAME), await ask(NAME, SECOND)];
      const count = found[0]?.added ?? found.length;
      const state = [count, now, seen?.slice(0, 3).join("")];
      assertEquals(state, [rows, then, known], sql);
    }
    await exec(take("-- Erase it", values));
    const issued = await shell('activation_keys?select=id"');
    const [{ id }] = JSON.parse(issued);
    const byCode = { "id=eq.<key>": "code=eq.1" };
    assertEquals(await shell("=is.null", { "<key>": id }), issued);
    assertEquals(await shell("=is.null", { "<key>": id }), "[]");
    assertEquals(JSON.parse(await shell("=is.null", byCode)).length, 1);
    const rows = await exec(take("-- What the table knows", { "<key>": " 1" }));
    assert(rows.some(({ this_key, key }) => this_key && key === "1"));
    await exec(`update ${KEYS} set curr_user = 'Ëlla#1' where code = '2'`);
    const ella = { "<key>": "", "Amelia#1937": "Ëlla#1" };
    const [found] = await exec(take("-- What the table knows", ella));
    assertEquals(found?.this_name, true);
    const ofCode = { "id ": "code ", "<key>": "1" };
    assertEquals((await exec(take("-- Revoke it", ofCode))).length, 1);
    const [replaced] = await exec(take("-- Replace the keys", ofCode));
    const now = `select from ${KEYS} where code = '${replaced?.new_key}'`;
    assertEquals((await exec(now)).length, 1);
    assertEquals(await ask(NAME), 200);
  });

  /** Writes the file that the page's `db query` writes, and returns its text. */
  const exportKeys = async () => {
    const [row] = await exec(`select json_agg(k)::text as t from ${KEYS} as k`);
    await Deno.writeTextFile(new URL("keys.json", folder.url), `${row?.t}`);
    return row?.t;
  };

  await t.step("a restore: no paid key ever gets 499", async () => {
    const paid = ["moved", "first use", "new", "O'Brien\n\\'); --", "lost"];
    const askAll = (...all: string[]) => Promise.all(all.map((n) => ask(n)));
    const add = (names: string) =>
      `insert into ${KEYS} (project_id, curr_user)
      select '${PRODUCT}', unnest(array[${names}]);`;
    await exec(`truncate ${KEYS}; create table public.backup (like ${KEYS});
      ${add(`'before', null, 'revoked', 'released', $$${paid[3]}$$, 'lost'`)}
      insert into public.backup table ${KEYS}; ${add("'new'")}
      delete from ${KEYS} where curr_user in ('revoked', 'lost');
      update ${KEYS} set curr_user = case when curr_user is null then 'first use'
        when curr_user = 'before' then 'moved' else nullif(curr_user, 'released') end`);
    const restore = `truncate ${KEYS}; insert into ${KEYS} table public.backup;
      select id from public.backup where curr_user = 'lost'`;
    // No order says that this key was revoked: its `delete` is left out.
    let lost: Record<string, unknown> | undefined;
    const statuses = [];
    const heading = "Restore keys, and lock nobody";
    const steps = await readSnippets(OPERATORS, heading);
    for (const snippet of steps.snippets) {
      if (snippet.includes("delete check")) targets.edgeFunction = platform;
      else if (snippet.includes("> ../damaged")) await exportKeys();
      else if (snippet.startsWith("curl")) await statusOf(snippet);
      else if (!snippet.startsWith("npx")) {
        if (snippet.includes("create table")) [lost] = await exec(restore);
        const [row] = await exec(take(snippet));
        for (const statement of `${row?.statements ?? ""}`.split("\n")) {
          if (!statement.includes(`${lost?.id}`)) await exec(statement);
        }
      }
      statuses.push(await askAll(...paid));
    }
    targets.edgeFunction = edgeFunction!;
    assertEquals(statuses.filter((all) => all.includes(499)), []);
    assertEquals(await askAll(...paid), [200, 200, 200, 200, 200]);
    const gone = await askAll("before", "revoked", "released");
    assertEquals(gone, [499, 499, 499]);
    // An older export undoes no move.
    await exec(`${take("-- A table for the export")}
      insert into public.exported_keys table public.backup;
      update ${KEYS} set project_id = id where curr_user = 'lost';
      ${take("-- Put keys back")}`);
    const [row] = await exec(take("-- List what is not"));
    const lines = `${row?.statements}`.split("\n");
    await exec(lines.filter((line) => line.includes("'lost'")).join(""));
    assertEquals(await askAll("moved", "lost"), [200, 200]);
    await exec(`update ${KEYS} set curr_user = 'Wrong#1'`);
    const [undone] = await exec(take("-- Undo the damage"));
    assertEquals([undone?.changed, await ask("before")], [6, 200]);
    await exec(take("drop table public.exported"));
  });

  await t.step("a backup, a move, a back end, the Management API", async () => {
    const differences = take("-- Compare the keys");
    await exec(`alter table ${KEYS} drop column code`);
    for (const count of [100, 10_000, 8_191]) {
      await exec(`truncate ${KEYS}; ${take("-- A table for the export")}
        insert into ${KEYS} (project_id, curr_user)
          select '${PRODUCT}', 'user ' || n from generate_series(1, ${count}) as n`);
      // As a hosted Data API takes a file; the local one takes up to 8,191 keys.
      await exec(`insert into public.exported_keys select * from
        json_populate_recordset(null::public.exported_keys, $$${await exportKeys()}$$)`);
      assertEquals(await exec(differences), []);
      await exec(`update ${KEYS} set curr_user = 'x' where curr_user = 'user 2';
        update ${KEYS} set id = gen_random_uuid(), curr_user = null where curr_user = 'user 1'`);
      assertEquals((await exec(differences)).length, 3);
      await exec(take("drop table public.exported"));
    }
    const local = { exported_keys: "activation_keys" };
    for (const line of ["/exported_keys", "merge-duplicates"]) {
      await exec(`truncate ${KEYS}`);
      assertEquals(await statusOf(line, local), 201);
      assertEquals(await ask("user 8191"), 200);
    }
    assertEquals(await statusOf("merge-duplicates"), 200);
    const script =
      `import { issueKeys, recordFirstUse } from "./supabase/back_end.js";
      const [key, other] = await issueKeys("${PRODUCT}", "${SECOND}");
      for (const id of [other, key, key, "AAAA"]) console.log(
        await recordFirstUse(id, "${PRODUCT}", "Bessie").catch((e) => e.code)); Deno.exit();`;
    const env = { SUPABASE_URL: API_URL, SUPABASE_SECRET_KEY: SECRET_KEY };
    const options = { cwd: PROJECT, env };
    const { stdout } = await run(Deno.execPath(), ["eval", script], options);
    assertEquals(stdout.split("\n"), ["false", "true", "false", "22P02"]);
    assertEquals(await ask("Bessie"), 200);
    const ids = { "<old id>": "old", "<new id>": "new" };
    for (const id of Object.keys(ids)) await shell(id, ids);
    await shell('api-keys" -H');
    const patched = /old {"name":"default_old"}.*new {"name":"default"}.*GET /s;
    assertMatch(sent.join("\n"), patched);
    for (const line of snippets.filter((line) => RUN_BY_CLI.test(line))) {
      const args = cliArgs(take(line)).filter((arg) => arg !== "--remote");
      await runOnPlatform(args);
    }
  });

  assertEquals([...left].filter((snippet) => !ELSEWHERE.test(snippet)), []);
});
