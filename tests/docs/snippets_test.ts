/** The code on the pages, taken out of them and run. */
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { freePort, serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { openDatabase } from "../../tools/stack/database.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import {
  ACTIVE,
  type Expected,
  MISSING,
  NOT_FOUND,
} from "../support/contract.ts";
import { described } from "../support/openapi.ts";
import { CALLERS, codeBlock, OPERATORS } from "../support/pages.ts";
import {
  dataApi,
  issueKeys,
  serviceUnderTest,
} from "../support/service_under_test.ts";
import { runLine } from "../support/start_process.ts";

/** The product on the pages. */
const PRODUCT = SEEDED.project_id;

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

/** A service that nobody has started. */
const DOWN = `http://127.0.0.1:${freePort()}`;

/** In place of a status: a 200, when the caller has given up. */
const LATE = 0;

/** What an add-on may get: from the function, the platform, or something on the way. */
const STATUSES = [
  ...[LATE, 200, 201, 204, 302, 307, 400, 401, 402, 403, 404, 405, 407, 408],
  ...[413, 429, 499, 500, 502, 503, 504, 520, 540, 544, 546],
];

const DRIVERS = fileURLToPath(new URL("callers", import.meta.url));

/**
 * The languages of the code for callers: what gets it ready, and what runs it. Without arguments, a
 * driver makes the page's call, up to the ninth pause; with users, it asks about one after another.
 */
const LANGUAGES = {
  // Newer syntax is an error.
  js: [
    `npx --yes acorn@${VERSIONS.acorn} --ecma2017 --silent code`,
    `node ${DRIVERS}/panel.mjs`,
  ],
  python: ["true", `python3 ${DRIVERS}/python.py`],
  cpp: [
    `g++ -std=c++17 -Wall -Werror -I. -I${DRIVERS} ${DRIVERS}/simulator.cpp -o gauge`,
    "./gauge",
  ],
};

/** Starts a service that sends these statuses, one after another, and then 500. */
function startStandIn(statuses: number[]) {
  let requests = 0;
  return serveOnLoopback(async ({ url }) => {
    // Only who follows a redirect comes here.
    if (!url.endsWith(FUNCTION_PATH)) return new Response();
    const status = statuses[requests++] ?? 500;
    if (status === LATE) {
      await sleep(4_000);
      return new Response();
    }
    const body = status === 204 ? null : "<h1>Not of the function</h1>";
    return new Response(body, { status, headers: { Location: "/" } });
  });
}

const daysAgo = (days: number) =>
  `${Math.floor(Date.now() / 1000 - days * 24 * 60 * 60)}`;

const LOCKED = ["lock no answer", "pause"];
const PAUSES_S = [5, 10, 20, 40, 80, 160, 320, 600, 600];
const ALWAYS_LOCKED = PAUSES_S.flatMap(() => LOCKED);

/**
 * What happens when an add-on keeps asking: what the service sends, or nothing if there is no
 * network; the stored time; and what the add-on does.
 */
const SCENARIOS: [string, number[], string | undefined, string[]][] = [
  ["200", [200], undefined, ["unlock"]],
  ["499", [499], daysAgo(1), ["lock inactive"]],
  ["400", [400], undefined, ["lock mistake"]],
  ["400, 200 yesterday", [400], daysAgo(1), ["unlock"]],
  ["500, then 200", [500, 200], undefined, [...LOCKED, "unlock"]],
  ["500, then 499", [500, 499], daysAgo(15), [...LOCKED, "lock inactive"]],
  ["no network", [], undefined, ALWAYS_LOCKED],
  ["no network, 200 13.9 days ago", [], daysAgo(13.9), ["unlock"]],
  ["no network, 200 15 days ago", [], daysAgo(15), ALWAYS_LOCKED],
  ["no network, 200 tomorrow", [], daysAgo(-1), ALWAYS_LOCKED],
  ["no network, nothing stored", [], "", ALWAYS_LOCKED],
  ["no network, no number stored", [], "x", ALWAYS_LOCKED],
];

for (const [language, [build = "", driver = ""]] of Object.entries(LANGUAGES)) {
  Deno.test(`snippet: the callers' ${language}`, async ({ step }) => {
    await using folder = await makeTempFolder();
    const shell = async (command: string, args: string[], ORIGIN = DOWN) => {
      const { success, stdout, stderr } = await run(
        "sh",
        ["-c", `${command} "$@"`, "sh", ...args],
        { cwd: folder.url, env: { ORIGIN } },
      );
      return { success, said: stdout.split("\n"), stderr };
    };
    // The call stands apart from the code, and names the same user in every language.
    const files = { code: "GRACE_S", call: `"${SEEDED.username}"` };
    for (const [file, says] of Object.entries(files)) {
      const code = (await codeBlock(CALLERS, language, says))
        // The gauge's clock and the folders are the test's.
        .replace("std::chrono::steady_clock", "GaugeClock")
        .replace("\\\\work\\\\", "")
        .replace('os.environ["LOCALAPPDATA"], "My add-on"', '"."');
      await Deno.writeTextFile(new URL(file, folder.url), code);
    }
    const built = await shell(build, []);
    assert(built.success, built.stderr);

    await step("asks, with the name as it is", async () => {
      await using _keys = await issueKeys([USER], PRODUCT);
      const { API_URL } = serviceUnderTest();
      const { said, stderr } = await shell(driver, [USER, "x", ""], API_URL);
      assertEquals(said, ["active", "inactive", "mistake"], stderr);
      const logged = `${MISSING.status} ${JSON.stringify(MISSING.body)}`;
      assertStringIncludes(stderr, logged);
    });

    await step("asks once, and does what openapi.yaml says", async () => {
      await using standIn = startStandIn(STATUSES);
      const users = STATUSES.map(String);
      const { said } = await shell(driver, users, standIn.url);
      assertEquals(
        said.map((result, index) => [STATUSES[index], result]),
        // A preflight's status asks nothing.
        STATUSES.map((one) => [one, described(one)["x-result"] ?? "no answer"]),
      );
    });

    for (const [what, statuses, stored, events] of SCENARIOS) {
      await step(`keeps asking: ${what}`, async () => {
        const file = new URL("active-at.txt", folder.url);
        if (stored === undefined) await Deno.remove(file).catch(() => {});
        else await Deno.writeTextFile(file, stored);
        await using standIn = startStandIn(statuses);
        const service = statuses.length > 0 ? standIn.url : DOWN;
        const { said, stderr } = await shell(driver, [], service);
        const seen = said.map((line) => line.replace(/ [\d.]+$/, ""));
        assertEquals(seen, events, stderr);
        const pausesS = said.filter((line) => line.startsWith("pause"))
          .map((line) => Number(line.split(" ")[1]));
        // A gauge sees the time of a frame, which is a little later.
        const isClose = (pauseS: number, usualS = NaN) =>
          0.5 * usualS <= pauseS && pauseS <= 1.503 * usualS;
        assert(pausesS.every((s, i) => isClose(s, PAUSES_S[i])), `${pausesS}`);
        if (pausesS.length > 8) assertNotEquals(pausesS[7], pausesS[8]);

        const text = await Deno.readTextFile(file).catch(() => undefined);
        const last = statuses.at(-1);
        if (last !== 200) assertEquals(text, last === 499 ? "" : stored);
        else assertAlmostEquals(Number(text), Date.now() / 1000, 60);
      });
    }

    if (language !== "cpp") return;
    await step("several questions and a late response", async () => {
      await using _keys = await issueKeys(["Amelia", "Bessie"], PRODUCT);
      const { API_URL } = serviceUnderTest();
      const users = ["Amelia", "x", "Bessie", "Amelia"];
      const { said } = await shell(`${driver} --together`, users, API_URL);
      // The first response is late, and the simulator takes no fourth question.
      const results = ["no answer", "inactive", "active", "no answer"];
      // Then milliseconds, and how many requests were cancelled.
      assertEquals(said, [...results, "10000", "1"]);
    });
  });
}

Deno.test("snippet: the SQL for keys does what it says", async () => {
  await using database = await openDatabase();
  await database.exec("set role service_role");
  const sql = await codeBlock(OPERATORS, "sql", "-- Issue a key");
  const [issue, thousand, firstUse, find, move, release, revoke] = sql
    .trim().split("\n\n");
  const ids = async (statement = "") =>
    (await database.query<{ id: string }>(statement)).rows.map(({ id }) => id);

  const [key = ""] = await ids(issue);
  const usersAfter = async (statement = "") => {
    assertStringIncludes(statement, "<key>");
    await database.exec(statement.replace("<key>", key));
    const { rows } = await database.query<{ curr_user: string | null }>(
      "select curr_user from public.activation_keys",
    );
    return rows.map((row) => row.curr_user);
  };
  assertEquals(await usersAfter(firstUse), ["Amelia#1937"]);
  assertEquals(await ids(find), [key]);
  assertEquals(await usersAfter(move), ["Amelia#1938"]);
  assertEquals(await usersAfter(firstUse), ["Amelia#1938"]);
  assertEquals(await usersAfter(release), [null]);
  assertEquals(await usersAfter(revoke), []);
  assertEquals(new Set(await ids(thousand)).size, 1000);
});

Deno.test("snippet: the operator's curl issues a key, records its first use, and checks", async () => {
  const { API_URL, SECRET_KEY } = serviceUnderTest();
  const product = crypto.randomUUID();
  let key = "";
  const curl = async (says: string, page = OPERATORS) => {
    const line = (await codeBlock(page, "sh", says)).trim()
      .replace("https://<ref>.supabase.co", API_URL)
      .replace(PRODUCT, product).replace("<secret key>", SECRET_KEY)
      .replace("<key>", key).replace("nobody", "Amelia#1937");
    return (await runLine(line)).stdout;
  };
  const check = async ({ status, body }: Expected, page?: string) => {
    const response = await curl("nobody", page);
    assertStringIncludes(response, `HTTP/1.1 ${status} `);
    assertStringIncludes(response, JSON.stringify(body));
  };

  const [issued] = JSON.parse(await curl('activation_keys?select=id"'));
  assertEquals(Object.keys(issued), ["id"]);
  key = issued.id;
  await check(NOT_FOUND);
  await check(NOT_FOUND, "README.md");
  assertEquals(JSON.parse(await curl("-X PATCH")), [{ id: key }]);
  await check(ACTIVE);
  assertEquals(JSON.parse(await curl("-X PATCH")), []);
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
