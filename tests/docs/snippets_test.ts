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
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { ACTIVE, MISSING, NOT_FOUND } from "../support/answers.ts";
import {
  CALLERS,
  LANGUAGE_NAMES,
  panelCode,
  prepareCaller,
} from "../support/callers.ts";
import { dataApi, issueKeys } from "../support/issue_keys.ts";
import { codeBlock } from "../support/pages.ts";
import { resultOf, STATUSES } from "../support/results.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";
import { freePort, runLine } from "../support/start_process.ts";

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

/** The product on the pages. */
const PRODUCT = SEEDED.project_id;

/** The page for operators. */
const OPERATORS = "supabase/README.md";

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
  ["no network, 200 yesterday", undefined, 1, ["unlock"], "as before"],
  ["no network, 200 13.9 days ago", undefined, 13.9, ["unlock"], "as before"],
  ["no network, 200 15 days ago", undefined, 15, ALWAYS_LOCKED, "as before"],
  ["no network, 200 tomorrow", undefined, -1, ALWAYS_LOCKED, "as before"],
  ["no network, nothing stored", undefined, "", ALWAYS_LOCKED, "as before"],
  ["no network, no number stored", undefined, "x", ALWAYS_LOCKED, "as before"],
];

for (const language of LANGUAGE_NAMES) {
  Deno.test(`snippet: ${language}`, async (context) => {
    await using caller = await prepareCaller(language);
    const lines = async (service: string, ...args: string[]) => {
      const { stdout, stderr } = await caller.run(service, ...args);
      return { said: stdout.split(/\r?\n/), stderr };
    };

    await context.step("asks, with the name as it is", async () => {
      const { API_URL } = serviceUnderTest();
      await using _keys = await issueKeys([USER], PRODUCT);
      const ask = (user: string) => lines(API_URL, "ask", "1", user);
      assertEquals((await ask(USER)).said, [resultOf(ACTIVE.status)]);
      assertEquals((await ask("x")).said, [resultOf(NOT_FOUND.status)]);
      const { said, stderr } = await ask("");
      assertEquals(said, [resultOf(MISSING.status)]);
      // A mistake is logged.
      assertStringIncludes(stderr, `${MISSING.status}`);
      assertStringIncludes(stderr, JSON.stringify(MISSING.body));
    });

    await context.step("does what README.md says", async () => {
      await using standIn = startStandIn(STATUSES);
      const times = `${STATUSES.length}`;
      const { said } = await lines(standIn.url, "ask", times, "a");
      assertEquals(
        STATUSES.map((status, index) => [status, said[index]]),
        STATUSES.map((status) => [status, resultOf(status)]),
      );
      assertEquals(standIn.requests, STATUSES.length);
    });

    // C++ has a test of its own for this, in the simulator's time.
    if (language !== "C++") {
      await context.step("gives up in time", async () => {
        await using standIn = startStandIn([]);
        const { said } = await lines(standIn.url, "ask", "1", "a");
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
        const { said, stderr } = await lines(
          statuses ? standIn.url : DOWN,
          "keep",
          `${PAUSES_S.length}`,
        );
        assertEquals(said.map((line) => line.replace(/ [\d.]+$/, "")), events);
        assertEquals(standIn.requests, statuses?.length ?? 0);
        assertEquals(stderr.includes("400"), statuses?.[0] === 400, stderr);
        assertPauses(
          said.filter((line) => line.startsWith("pause"))
            .map((line) => Number(line.split(" ")[1])),
        );

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

/** Fails unless the pauses grow, and vary from one to the next. */
function assertPauses(pausesS: number[]): void {
  for (const [index, pauseS] of pausesS.entries()) {
    const middleS = PAUSES_S[index] ?? NaN;
    // A gauge sees the time of a frame, which is a little later.
    const isInRange = pauseS >= middleS / 2 && pauseS <= middleS * 1.5 + 0.01;
    assert(isInRange, `${pausesS}`);
  }
  if (pausesS.length > 8) assertNotEquals(pausesS[7], pausesS[8]);
}

Deno.test("snippet: C++ keeps questions apart that are under way together", async () => {
  await using gauge = await prepareCaller("C++");
  await using _keys = await issueKeys(["Amelia", "Bessie"], PRODUCT);
  const { stdout } = await gauge.run(
    serviceUnderTest().API_URL,
    ...["together", "Amelia", "x", "Bessie", "Amelia"],
  );
  // The simulator takes no fourth one.
  assertEquals(stdout.split("\n"), [
    "active",
    "inactive",
    "active",
    "no answer",
  ]);
});

Deno.test("snippet: C++ gives up after ten seconds, and ignores what comes later", async () => {
  await using gauge = await prepareCaller("C++");
  await using standIn = startStandIn([200]);
  const { stdout } = await gauge.run(standIn.url, "hang", "a");
  // Milliseconds, how many requests were cancelled, and the result after a 200.
  assertEquals(stdout.split("\n"), ["10000", "1", "no answer"]);
});

Deno.test("snippet: the panel's code uses no syntax newer than Safari 11", async () => {
  await using folder = await makeTempFolder();
  const file = fileURLToPath(new URL("panel.js", folder.url));
  const code = await panelCode();
  await Deno.writeTextFile(file, code);
  // esbuild writes every number anew, so it cannot tell.
  assert(!/\d_\d/.test(code), "a number has a separator");
  const build = (target: string) =>
    npx(`esbuild@${VERSIONS.esbuild}`, [file, `--target=${target}`]);
  const newest = await build("esnext");
  assert(newest.success, newest.stderr);
  for (const target of ["safari11", "es2017"]) {
    const { stdout, stderr } = await build(target);
    assertEquals(stdout, newest.stdout, `${target}: ${stderr}`);
  }
});

for (const page of ["README.md", CALLERS] as const) {
  Deno.test(`snippet: curl of ${page} prints status and body, with the seed`, async () => {
    const code = await codeBlock(page, "sh", LOCAL_SERVICE.API_URL);
    assertStringIncludes(code, PRODUCT);
    const ask = (base: string, product = PRODUCT) =>
      runLine(
        code.trim().replaceAll(LOCAL_SERVICE.API_URL, base)
          .replace(PRODUCT, product),
      );
    const { API_URL } = serviceUnderTest();
    for (
      const [product, { status, body }] of [
        [PRODUCT, ACTIVE],
        [crypto.randomUUID(), NOT_FOUND],
      ] as const
    ) {
      const { stdout } = await ask(API_URL, product);
      assertStringIncludes(stdout, `HTTP/1.1 ${status} `);
      assertStringIncludes(stdout, JSON.stringify(body));
    }
    assert(!(await ask(DOWN)).success);
  });
}

Deno.test("snippet: the check after a deploy prints the 499 that README.md says", async () => {
  const HOSTED = "https://<ref>.supabase.co";
  const code = await codeBlock("README.md", "sh", HOSTED);
  const { API_URL } = serviceUnderTest();
  const { stdout } = await runLine(code.trim().replace(HOSTED, API_URL));
  assertStringIncludes(stdout, `HTTP/1.1 ${NOT_FOUND.status} `);
  assertStringIncludes(stdout, JSON.stringify(NOT_FOUND.body));
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

Deno.test("snippet: the operator's curl issues a key and records its first use", async () => {
  const { API_URL, SECRET_KEY } = serviceUnderTest();
  const product = crypto.randomUUID();
  let key = "";
  const run = async (says: string) => {
    const line = (await codeBlock(OPERATORS, "sh", says)).trim()
      .replace("https://<ref>.supabase.co", API_URL)
      .replace(PRODUCT, product).replace("<secret key>", SECRET_KEY)
      .replace("<key>", key).replace("nobody", "Amelia#1937");
    return (await runLine(line)).stdout;
  };
  const check = async ({ status, body }: typeof ACTIVE | typeof NOT_FOUND) => {
    const response = await run(FUNCTION_PATH);
    assertStringIncludes(response, `HTTP/1.1 ${status} `);
    assertStringIncludes(response, JSON.stringify(body));
  };

  const [issued] = JSON.parse(await run('activation_keys?select=id"'));
  assertEquals(Object.keys(issued), ["id"]);
  key = issued.id;
  await check(NOT_FOUND);
  assertEquals(JSON.parse(await run("-X PATCH")), [{ id: key }]);
  await check(ACTIVE);
  assertEquals(JSON.parse(await run("-X PATCH")), []);
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
  const config = fileURLToPath(new URL("deno.json", PROJECT));
  const { stdout, stderr } = await run(Deno.execPath(), [
    "run",
    "--allow-all",
    `--config=${config}`,
    fileURLToPath(file),
  ], { env: { SUPABASE_URL: API_URL, SUPABASE_SECRET_KEY: SECRET_KEY } });
  assert(stdout, stderr);
  assertEquals(JSON.parse(stdout), {
    uses: [false, true, false, false],
    mistyped: "22P02",
    data: [{ curr_user: "Amelia" }],
  });
});
