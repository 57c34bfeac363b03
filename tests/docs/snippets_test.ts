/** The code on the pages, taken out of them and run. */
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, PROJECT, SEEDED } from "../../tools/project.ts";
import { npx, run } from "../../tools/command.ts";
import { openDatabase } from "../../tools/stack/database.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { ACTIVE, type Answer, MISSING, NOT_FOUND } from "../support/answers.ts";
import { dataApi, issueKeys } from "../support/issue_keys.ts";
import { codeBlock, OPERATORS } from "../support/pages.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";
import { freePort, runLine } from "../support/start_process.ts";
import { codeOf, type Language, LANGUAGES, prepareCaller } from "./callers.ts";
import { resultOf, STATUSES } from "./results.ts";

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

/** The product on the pages. */
const PRODUCT = SEEDED.project_id;

/** A service that nobody has started. */
const DOWN = `http://127.0.0.1:${freePort()}`;

/** Starts a service that sends these statuses, one after another, and then 500. For none, it hangs. */
function startStandIn(statuses: number[]) {
  const hanging = Promise.withResolvers<Response>();
  const server = serveOnLoopback(({ url }) => {
    // Only who follows a redirect comes here.
    if (!url.endsWith(FUNCTION_PATH)) return new Response();
    const status = statuses[standIn.requests++] ?? 500;
    if (statuses.length === 0) return hanging.promise;
    const body = status === 204 ? null : "<h1>Not of the function</h1>";
    return new Response(body, { status, headers: { Location: "/" } });
  });
  const standIn = {
    url: server.url,
    requests: 0,
    async [Symbol.asyncDispose]() {
      hanging.resolve(new Response());
      await server[Symbol.asyncDispose]();
    },
  };
  return standIn;
}

const DAY_S = 24 * 60 * 60;
const LOCKED = ["lock no answer", "pause"];
const PAUSES_S = [5, 10, 20, 40, 80, 160, 320, 600, 600];
const ALWAYS_LOCKED = PAUSES_S.flatMap(() => LOCKED);

/**
 * What happens when an add-on keeps asking: what the service sends, or `undefined` for no network; how
 * many days ago the stored time was, or its text; what the add-on does, and what is stored then.
 */
const SCENARIOS: [
  what: string,
  statuses: number[] | undefined,
  stored: number | string | undefined,
  events: string[],
  then: "now" | "nothing" | "as before",
][] = [
  ["200", [200], undefined, ["unlock"], "now"],
  ["499", [499], 1, ["lock inactive"], "nothing"],
  ["400", [400], undefined, ["lock mistake"], "as before"],
  ["400, 200 yesterday", [400], 1, ["unlock"], "as before"],
  ["500, then 200", [500, 200], undefined, [...LOCKED, "unlock"], "now"],
  ["500, then 499", [500, 499], 15, [...LOCKED, "lock inactive"], "nothing"],
  ["500, 200 yesterday", [500], 1, ["unlock"], "as before"],
  ["no network", undefined, undefined, ALWAYS_LOCKED, "as before"],
  ["no network, 200 13.9 days ago", undefined, 13.9, ["unlock"], "as before"],
  ["no network, 200 15 days ago", undefined, 15, ALWAYS_LOCKED, "as before"],
  ["no network, 200 tomorrow", undefined, -1, ALWAYS_LOCKED, "as before"],
  ["no network, nothing stored", undefined, "", ALWAYS_LOCKED, "as before"],
  ["no network, no number stored", undefined, "x", ALWAYS_LOCKED, "as before"],
];

for (const language of Object.keys(LANGUAGES) as Language[]) {
  Deno.test(`snippet: ${language}`, async (context) => {
    await using caller = await prepareCaller(language);
    await context.step("asks, with the name as it is", async () => {
      const { API_URL } = serviceUnderTest();
      await using _keys = await issueKeys([USER], PRODUCT);
      const ask = (user: string) => caller.run(API_URL, "ask", "1", user);
      assertEquals((await ask(USER)).said, ["active"]);
      assertEquals((await ask("x")).said, ["inactive"]);
      const { said, stderr } = await ask("");
      assertEquals(said, ["mistake"]);
      const logged = `${MISSING.status} ${JSON.stringify(MISSING.body)}`;
      assertStringIncludes(stderr, logged);
    });

    await context.step("does what README.md says", async () => {
      await using standIn = startStandIn(STATUSES);
      const times = `${STATUSES.length}`;
      const { said } = await caller.run(standIn.url, "ask", times, "a");
      assertEquals(
        said.map((result, index) => [STATUSES[index], result]),
        STATUSES.map((status) => [status, resultOf(status)]),
      );
      assertEquals(standIn.requests, STATUSES.length);
    });

    // C++ has a test of its own for this, in the simulator's time.
    if (language !== "C++") {
      await context.step("gives up in time", async () => {
        await using standIn = startStandIn([]);
        const { said } = await caller.run(standIn.url, "ask", "1", "a");
        assertEquals(said, ["no answer"]);
        assertEquals(standIn.requests, 1);
      });
    }

    for (const [what, statuses, stored, events, then] of SCENARIOS) {
      await context.step(`keeps asking: ${what}`, async () => {
        const startedS = Math.floor(Date.now() / 1000);
        const before = typeof stored === "number"
          ? `${Math.floor(startedS - stored * DAY_S)}`
          : stored;
        await Deno.remove(caller.stored).catch(() => {});
        if (before !== undefined) {
          await Deno.writeTextFile(caller.stored, before);
        }

        await using standIn = startStandIn(statuses ?? []);
        const { said, stderr } = await caller.run(
          statuses ? standIn.url : DOWN,
          ...["keep", `${PAUSES_S.length}`],
        );
        assertEquals(said.map((line) => line.replace(/ [\d.]+$/, "")), events);
        assertEquals(standIn.requests, statuses?.length ?? 0);
        assertEquals(stderr.includes("400"), statuses?.[0] === 400, stderr);
        const pausesS = said.filter((line) => line.startsWith("pause"))
          .map((line) => Number(line.split(" ")[1]));
        for (const [index, pauseS] of pausesS.entries()) {
          const factor = pauseS / (PAUSES_S[index] ?? NaN);
          // A gauge sees the time of a frame, which is a little later.
          assert(factor >= 0.5 && factor <= 1.503, `${pausesS}`);
        }
        if (pausesS.length > 8) assertNotEquals(pausesS[7], pausesS[8]);

        const after = await Deno.readTextFile(caller.stored)
          .catch(() => undefined);
        if (then === "now") {
          const storedS = Number(after);
          assert(storedS >= startedS && storedS <= Date.now() / 1000, after);
        } else assertEquals(after, then === "nothing" ? "" : before);
      });
    }
  });
}

Deno.test("snippet: C++ keeps questions apart that are under way together", async () => {
  await using gauge = await prepareCaller("C++");
  await using _keys = await issueKeys(["Amelia", "Bessie"], PRODUCT);
  const { said } = await gauge.run(
    serviceUnderTest().API_URL,
    ...["together", "Amelia", "x", "Bessie", "Amelia"],
  );
  // The simulator takes no fourth one.
  assertEquals(said, ["active", "inactive", "active", "no answer"]);
});

Deno.test("snippet: C++ gives up after ten seconds, and ignores what comes later", async () => {
  await using gauge = await prepareCaller("C++");
  await using standIn = startStandIn([200]);
  const { said } = await gauge.run(standIn.url, "hang", "a");
  // Milliseconds, how many requests were cancelled, and the result after a 200.
  assertEquals(said, ["10000", "1", "no answer"]);
});

Deno.test("snippet: the panel's code uses no syntax newer than Safari 11", async () => {
  await using folder = await makeTempFolder();
  const file = fileURLToPath(new URL("panel.js", folder.url));
  const code = await codeOf("panel");
  await Deno.writeTextFile(file, code);
  // esbuild writes every number anew, so it cannot tell.
  assert(!/\d_\d/.test(code), "a number has a separator");
  const build = (target: string) =>
    npx(`esbuild@${VERSIONS.esbuild}`, [file, `--target=${target}`]);
  const newest = await build("esnext");
  assert(newest.success, newest.stderr);
  const { stdout, stderr } = await build("safari11");
  assertEquals(stdout, newest.stdout, stderr);
});

Deno.test("snippet: the SQL for keys does what it says", async () => {
  await using database = await openDatabase();
  await database.exec("set role service_role");

  const sql = await codeBlock(OPERATORS, "sql", "-- Issue a key");
  const [issue, thousand, firstUse, find, move, release, remove] = sql
    .trim().split("\n\n");
  const { rows: [key] } = await database.query<{ id: string }>(issue ?? "");
  const user = async (statement = "") => {
    assertStringIncludes(statement, "<key>");
    await database.exec(statement.replace("<key>", key?.id ?? ""));
    const { rows } = await database.query<{ curr_user: string | null }>(
      "select curr_user from public.activation_keys",
    );
    return rows.map((row) => row.curr_user);
  };
  assertEquals(await user(firstUse), ["Amelia#1937"]);
  const { rows: found } = await database.query<{ id: string }>(find ?? "");
  assertEquals(found.map(({ id }) => id), [key?.id]);
  assertEquals(await user(move), ["Amelia#1938"]);
  assertEquals(await user(firstUse), ["Amelia#1938"]);
  assertEquals(await user(release), [null]);
  assertEquals(await user(remove), []);
  const { rows } = await database.query<{ id: string }>(thousand ?? "");
  assertEquals(new Set(rows.map(({ id }) => id)).size, 1000);
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
  const check = async ({ status, body }: Answer, page?: string) => {
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
  await using folder = await makeTempFolder();
  const file = new URL("keys.js", folder.url);
  const code = await codeBlock(OPERATORS, "js", "recordFirstUse");
  await Deno.writeTextFile(
    file,
    `${code}
const product = crypto.randomUUID();
const id = await issueKey(product);
const uses = [await recordFirstUse(id, crypto.randomUUID(), "Bessie")];
for (const user of ["Amelia", "Amelia", "Bessie"]) uses.push(await recordFirstUse(id, product, user));
const mistyped = await recordFirstUse("AAAA-1", product, "Amelia").catch((error) => error.code);
const { data } = await supabase.from("activation_keys").delete().eq("id", id).select("curr_user");
console.log(JSON.stringify({ uses, mistyped, data }));
Deno.exit();`,
  );
  const { stdout, stderr } = await run(
    Deno.execPath(),
    ["run", "--allow-all", "--config=deno.json", fileURLToPath(file)],
    {
      cwd: PROJECT,
      env: { SUPABASE_URL: API_URL, SUPABASE_SECRET_KEY: SECRET_KEY },
    },
  );
  assert(stdout, stderr);
  assertEquals(JSON.parse(stdout), {
    uses: [false, true, false, false],
    mistyped: "22P02",
    data: [{ curr_user: "Amelia" }],
  });
});
