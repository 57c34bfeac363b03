/** The code for operators: it is run as it stands on the pages, and does what they say. */
import { assertEquals, assertMatch } from "@std/assert";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { runOnPlatform } from "../support/management_api.ts";
import { cliCommand, codeOf, codeToRun, OPERATORS } from "../support/pages.ts";
import { check } from "../support/requests.ts";
import { runLine } from "../support/start_process.ts";

const KEYS = "public.activation_keys";
const NAME = "Amelia#1937";
const PRODUCT = SEEDED.project_id;
const SECOND = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";

/** Lines for the CLI; and those that other tests run, or that a person has to answer. */
const COMMANDS = /^npx supabase.* (logs|functions delete) /;
const ELSEWHERE =
  /^git|^cd|task start|3.1.0 (login|link|db|migration|functions deploy)/;

/** SQL, the rows it returns, the statuses of `NAME` then, and "What the table knows" of it. */
type Step = { sql: string; rows: number; then: number[]; known?: string };
const NEITHER = [499, 499], FIRST = [200, 499], BOTH = [200, 200];
const STEPS: Step[] = [
  { sql: "-- Issue keys", rows: 1, then: NEITHER, known: "t t n" },
  { sql: "Record its", rows: 1, then: FIRST, known: "t t t" },
  { sql: "Record its", rows: 0, then: FIRST, known: "t t t" },
  { sql: "-- Move it", rows: 1, then: NEITHER, known: "t t f" },
  { sql: "List the keys", rows: 1, then: NEITHER, known: "t t f" },
  { sql: "set project_id = id", rows: 0, then: NEITHER, known: "t f f" },
  { sql: "List your products", rows: 1, then: NEITHER, known: "t f f" },
  { sql: "-- Revoke it", rows: 1, then: NEITHER },
  { sql: "-- Issue a bundle", rows: 2, then: NEITHER, known: "t t n" },
  { sql: "the bundle's", rows: 2, then: BOTH, known: "t t t" },
  { sql: "-- Revoke it", rows: 1, then: [499, 200], known: "f f t" },
  { sql: "-- Erase it", rows: 1, then: NEITHER },
  { sql: "-- Give it", rows: 0, then: NEITHER },
  { sql: "-- A table for the file", rows: 0, then: NEITHER },
  { sql: "-- Add its keys", rows: 1, then: FIRST, known: "f t t" },
  { sql: "-- Keep the codes", rows: 0, then: FIRST, known: "f t t" },
  { sql: "-- Erase it", rows: 1, then: NEITHER },
  { sql: "-- Issue a key with", rows: 1, then: NEITHER, known: "t t n" },
  { sql: "a code's", rows: 1, then: FIRST, known: "t t t" },
];

Deno.test("operators: the code on the pages does what they say", async (t) => {
  const { code, left, take } = await codeToRun(OPERATORS, "sql", "sh", "js");
  await using stack = await startStack();
  await using folder = await makeTempFolder();
  const { service: { API_URL, SECRET_KEY }, connection, targets } = stack;
  const { edgeFunction } = targets;
  const sent: string[] = [];
  /** The Management API; and the platform, once the function is deleted. */
  await using platform = serveOnLoopback(async (request) => {
    const { pathname } = new URL(request.url);
    sent.push(`${request.method} ${pathname} ${await request.text()}`);
    return Response.json({ code: "NOT_FOUND" }, { status: 404 });
  });
  const exec = async (sql: string): Promise<Record<string, unknown>[]> => {
    const results = await connection.driver.exec(sql);
    await connection.introspect(); // As the hosted Data API does by itself.
    return results.at(-1)?.rows ?? [];
  };
  const shell = async (text: string, values = {}) => {
    const local = { "<secret key>": SECRET_KEY, "../<file>": "keys" };
    const line = take(text, { ...values, ...local, "../keys-<date>": "keys" })
      .replace(/https:\/\/<[a-z ]+>[.a-z]+|http:\/\/127[.0-9]+:\d+/, API_URL)
      .replace("https://api.supabase.com", platform.url);
    return (await runLine(line, { cwd: folder.url })).stdout;
  };
  /** The last one: curl asks first whether it may send a long body. */
  const statusOf = async (text: string, values = {}) =>
    Number((await shell(text, values)).match(/.*^HTTP\/1.1 (\d+)/ms)?.[1]);
  const ask = async (name: string, product = PRODUCT) => {
    const response = await check(product, name, API_URL + FUNCTION_PATH);
    await response.body?.cancel();
    return response.status;
  };

  await t.step("keys, a bundle, an erasure, and CSV", async () => {
    assertEquals(await statusOf("CaptainKirin"), 200);
    assertEquals(await statusOf("nobody"), 499);
    await exec(`${take("gen_random_uuid();")} truncate ${KEYS}`);
    const values = {
      "<key>": "",
      "<second key>": "",
      "<code>": "A",
      "<new code>": "A",
    };
    for (const { sql, rows, then, known } of STEPS) {
      const update = sql.startsWith("set") && `update ${KEYS} ${sql}`;
      const found = await exec(update || take(sql, values));
      if (sql.startsWith("-- Issue")) {
        values["<key>"] = `${found[0]?.id}`.toUpperCase();
        values["<second key>"] = `${found[1]?.id}`;
      }
      if (sql === "-- A table for the file") {
        // As the dashboard imports a file. It may take an empty name for null, or for "".
        await exec(`insert into public.key_codes (code, project_id, curr_user)
          select n, '${PRODUCT}', case n when 0 then ' ${NAME} '
            when 1 then '' when 2 then null else 'user ' || n end
          from generate_series(0, 39999) as n`);
      }
      assertEquals(found[0]?.added ?? 40_000, 40_000);
      const [customer] = await exec(take("-- What the table knows", values));
      const seen = customer && Object.values(customer).slice(0, 3)
        .map((value) => `${value}`[0]).join(" ");
      const now = [await ask(NAME), await ask(NAME, SECOND)];
      assertEquals([found.length, now, seen], [rows, then, known], sql);
    }
    // By HTTP.
    for (const code of ["1", "2"]) {
      const printed = await shell("/key_codes?", { "<code>": code });
      const [{ id }] = JSON.parse(printed);
      assertEquals(await shell("=is.null", { "<key>": id }), printed);
    }
  });

  /** Writes the file that the CLI would, and returns its text. */
  const exportKeys = async () => {
    const [row] = await exec(`select json_agg(k) as keys from ${KEYS} as k`);
    const text = JSON.stringify(row?.keys);
    await Deno.writeTextFile(new URL("keys.json", folder.url), text);
    return text;
  };

  await t.step("a restore: no paid key ever gets 499", async () => {
    const paid = ["moved", "first use", "new", "O'Brien\n\\'); --", "lost"];
    const askPaid = () => Promise.all(paid.map((name) => ask(name)));
    const issue = `insert into ${KEYS} (project_id, curr_user)
      select '${PRODUCT}', unnest(array`;
    await exec(`truncate ${KEYS}; create table public.backup (like ${KEYS});
      ${issue}['before', null, 'revoked', 'released', $$${paid[3]}$$, 'lost']);
      insert into public.backup table ${KEYS};
      delete from ${KEYS} where curr_user in ('revoked', 'lost');
      update ${KEYS} set curr_user = case when curr_user is null then 'first use'
        when curr_user = 'before' then 'moved' else nullif(curr_user, 'released') end;
      ${issue}['new']);`);
    const restore = `truncate ${KEYS}; insert into ${KEYS} table public.backup`;
    const isLost = "select id from public.backup where curr_user = 'lost'";
    const [lost] = await exec(isLost);
    const statuses = [];
    const heading = "Restore keys, and lock nobody";
    for (const piece of await codeOf(OPERATORS, ["sh", "sql"], heading)) {
      if (piece.includes("delete check")) targets.edgeFunction = platform;
      else if (piece.includes("> ../damaged")) await exportKeys();
      else if (piece.startsWith("curl")) {
        assertEquals(await statusOf(piece), 201);
      } else if (!piece.startsWith("npx")) {
        if (piece.includes("create table")) await exec(restore);
        const [row] = await exec(take(piece));
        // The order of the lost key says that it was not revoked.
        for (const statement of `${row?.statements ?? ""}`.split("\n")) {
          if (!statement.includes(`${lost?.id}`)) await exec(statement);
        }
      }
      statuses.push(await askPaid());
    }
    targets.edgeFunction = edgeFunction!;
    assertEquals(statuses.filter((all) => all.includes(499)), []);
    assertEquals(await askPaid(), [200, 200, 200, 200, 200]);
    assertEquals([await ask("before"), await ask("revoked")], [499, 499]);
    assertEquals(await ask("released"), 499);
    // An older export takes no move back.
    await exec(`${take("-- A table for the export")}
      insert into public.exported_keys table public.backup;
      ${take("-- Put keys back")} ${take("drop table public.exported")}`);
    assertEquals(await ask("moved"), 200);
  });

  await t.step("a backup, tried and moved; and a back end", async () => {
    const differences = take("-- Count the keys");
    for (const count of [100, 10_000, 8_191]) {
      await exec(`truncate ${KEYS}; insert into ${KEYS} (project_id, curr_user)
        select '${PRODUCT}', 'user ' || n from generate_series(1, ${count}) as n;
        ${take("-- A table for the export")}`);
      const file = await exportKeys();
      // A hosted Data API takes more at once than the local one, and takes it so.
      const insert = `insert into public.exported_keys select * from
        json_populate_recordset(null::public.exported_keys, $$${file}$$)`;
      if (count > 8_191) await exec(insert);
      else assertEquals(await statusOf("/exported_keys"), 201);
      assertEquals(await exec(differences), [{ differences: 0 }]);
      await exec(`delete from ${KEYS} where curr_user = 'user 1';
        update ${KEYS} set curr_user = 'other' where curr_user = 'user 2';
        insert into ${KEYS} (project_id) values ('${PRODUCT}')`);
      assertEquals(await exec(differences), [{ differences: 3 }]);
      await exec(take("drop table public.exported"));
    }
    const local = { exported_keys: "activation_keys" };
    for (const [line, ...statuses] of [["/exp", 201], ["merge-", 201, 200]]) {
      await exec(`truncate ${KEYS}`);
      for (const status of statuses) {
        assertEquals(await statusOf(`${line}`, local), status);
        assertEquals(await ask("user 8191"), 200);
      }
    }
    const [{ id }] = JSON.parse(await shell('activation_keys?select=id"'));
    for (const printed of [`[{"id":"${id}"}]`, "[]"]) {
      assertEquals(await shell("curr_user=is.null", { "<key>": id }), printed);
      assertEquals(await ask(NAME), 200);
    }
    const uses = `
      import { issueKeys, recordFirstUse } from "./supabase/back_end.js";
      const [key, other] = await issueKeys("${PRODUCT}", "${SECOND}");
      console.log(await recordFirstUse(other, "${PRODUCT}", "Bessie"));
      console.log(await recordFirstUse(key, "${PRODUCT}", "Bessie"));
      await recordFirstUse("AAAA", "", "").catch((e) => console.log(e.code));
      Deno.exit();`;
    const env = { SUPABASE_URL: API_URL, SUPABASE_SECRET_KEY: SECRET_KEY };
    const options = { cwd: PROJECT, env };
    const { stdout } = await run(Deno.execPath(), ["eval", uses], options);
    assertEquals(stdout.split("\n"), ["false", "true", "22P02"]);
    assertEquals(await ask("Bessie"), 200);
  });

  await t.step("the Management API, by curl and the CLI", async () => {
    await shell('api-keys" -H');
    assertMatch(sent.at(-1)!, /^GET .*\/api-keys $/);
    for (const [id, name] of [["old", "default_old"], ["new", "default"]]) {
      await shell(`<${id} id>`, { [`<${id} id>`]: id });
      assertMatch(sent.at(-1)!, RegExp(`^PATCH .*/${id} {"name":"${name}"}$`));
    }
    for (const line of code.filter((line) => COMMANDS.test(line))) {
      const [, command = ""] = take(line).split("@3.1.0 ");
      const args = await cliCommand(command);
      await runOnPlatform(args.filter((arg) => arg !== "--remote"));
    }
  });

  assertEquals([...left].filter((piece) => !ELSEWHERE.test(piece)), []);
});
