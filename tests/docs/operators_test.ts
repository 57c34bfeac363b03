/** The code on the operators' pages, taken out of them and run. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { PROJECT, SEEDED } from "../../tools/project.ts";
import { openDatabase } from "../../tools/stack/database.ts";
import { codeBlock, codeOf, OPERATORS, TAKEN } from "../support/pages.ts";
import { dataApi, serviceUnderTest } from "../support/service_under_test.ts";
import { runLine } from "../support/start_process.ts";

/** Statements, how many rows each returns, and the customer then: this key, product, name; whose. */
const STEPS: [string, number, string?, ...string[]][] = [
  ["gen_random_uuid()", 1],
  ["-- Issue keys", 1, "true true  "],
  // Asked by name only, by key only, and about a look-alike: what is replaced by what.
  ["-- List your products", 1, "", "<key>", ""],
  ["-- Record its first use", 1, 'true true true "Amelia#1937"'],
  ["-- Move it", 1, 'true true false "Amelia#1938"'],
  ["-- Record its first use", 0, 'true true false "Amelia#1938"'],
  ["-- Put keys back", 1, 'true true true "Amelia#1937"'],
  ["-- List the keys", 1, 'true true false "Amelia#1937"', "Amelia#1937", ""],
  ["set created_at = '2026-11-19'", 0, 'true true true "Amelia#1937"'],
  ["-- List the keys", 0, 'false true true "Amelia#1937"', "<key>", ""],
  ["set curr_user = null", 0, "true true  "],
  ["activation_keys where id", 1],
  ["-- Put keys back", 1, 'true true true "Amelia#1937"'],
  ["set project_id = id", 0, 'true false true "Amelia#1937"'],
  ["set id = gen_random_uuid()", 0, 'false false true "Amelia#1937"'],
  ["set curr_user = 'ame lia'", 0, 'false false false "ame lia"'],
  ["set curr_user = 'Ame#2'", 0, 'false false false "Ame#2"', "lia#1937", ""],
];

Deno.test("snippet: the SQL does what it says", async () => {
  await using database = await openDatabase();
  await database.exec("set role service_role");
  let key = "AAAA-1";
  const run = async (sql: string, known = "", instead = "") => {
    const code = sql.startsWith("set")
      ? `update public.activation_keys ${sql}`
      : await codeBlock(OPERATORS, "sql", sql);
    const asked = code.replace(known, instead).replace("<key>", key);
    const [result] = await database.exec(asked);
    return result?.rows ?? [];
  };
  for (const [sql, count, seen = "", ...asked] of STEPS) {
    const rows = await run(sql);
    if (sql === "-- Issue keys") key = `${rows[0]?.id}`.toUpperCase();
    const customers = (await run("-- What the table knows", ...asked))
      .map((row) => Object.values(row).slice(0, 4).join(" "));
    assertEquals([rows.length, customers.join()], [count, seen], sql);
  }
});

Deno.test("snippet: the operator's curl issues a key, records its first use, and checks", async () => {
  const { API_URL, SECRET_KEY } = serviceUnderTest();
  const product = crypto.randomUUID();
  let key = "";
  const curl = async (says: string, prints: string) => {
    const line = (await codeBlock(["README.md", OPERATORS], "sh", says))
      .replace("https://<ref>.supabase.co", API_URL)
      .replace(SEEDED.project_id, product).replace("<key>", key)
      .replace("<secret key>", SECRET_KEY).replace("nobody", "Amelia#1937");
    const { stdout } = await runLine(line);
    assertStringIncludes(stdout, prints);
    return stdout;
  };

  key = JSON.parse(await curl('activation_keys?select=id"', "[{"))[0].id;
  await curl("<ref>.supabase.co/functions", "HTTP/1.1 499 ");
  await curl("curr_user=is.null", `[{"id":"${key}"}]`);
  await curl("<ref>.supabase.co/functions", "HTTP/1.1 200 ");
  await curl("curr_user=is.null", "[]");
  await dataApi("DELETE", `?id=eq.${key}`);
});

Deno.test("snippet: the operator's supabase-js issues a key and records its first use", async () => {
  const { API_URL, SECRET_KEY } = serviceUnderTest();
  const code = await codeBlock(OPERATORS, "js", "recordFirstUse");
  const uses = `
    const product = crypto.randomUUID();
    const id = await issueKey(product);
    console.log(await recordFirstUse(id, crypto.randomUUID(), "Bessie"));
    console.log(await recordFirstUse(id, product, "Amelia"));
    console.log(await recordFirstUse(id, product, "Bessie"));
    await recordFirstUse("AAAA-1", product, "Amelia").catch(({ code }) => console.log(code));
    const { data } = await supabase.from("activation_keys").delete().eq("id", id).select();
    console.log(data[0].curr_user);
    Deno.exit();`;
  const { stdout, stderr } = await run(Deno.execPath(), ["eval", code + uses], {
    cwd: PROJECT,
    env: { SUPABASE_URL: API_URL, SUPABASE_SECRET_KEY: SECRET_KEY },
  });
  const expected = ["false", "true", "false", "22P02", "Amelia"];
  assertEquals(stdout.split("\n"), expected, stderr);
});

Deno.test("snippet: no SQL, curl or JavaScript of the page is left out", async () => {
  // The CLI's are in `tests/deploy`; the Management API is out of reach.
  const others = /^npx |"https:\/\/api\.supabase\.com\//;
  for (const language of ["sql", "js", "sh"]) {
    const left = (await codeOf([OPERATORS], language))
      .filter((code) => !others.test(code) && !TAKEN.has(code));
    assertEquals(left, []);
  }
});
