/** The code on the pages, taken out of them and run. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../../tools/stack/database.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { issueKeys } from "../support/issue_keys.ts";
import { codeBlock, type Page } from "../support/pages.ts";
import { npx, type Output, run } from "../../tools/run.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

const CALLERS = "supabase/functions/check-username-active/README.md";
const SEEDED = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const DOWN = "http://127.0.0.1:9";
const USER = "Zoë#4821";

/** A block of code for another service and project: it has to name those of the pages. */
async function snippet(
  page: Page,
  language: string,
  says: string,
  base: string,
  id: string,
): Promise<string> {
  const block = await codeBlock(page, language, says);
  assertStringIncludes(block, LOCAL_SERVICE.API_URL);
  assertStringIncludes(block, SEEDED);
  return block.replaceAll(LOCAL_SERVICE.API_URL, base).replaceAll(SEEDED, id);
}

const panel = (base: string, id: string) =>
  snippet("README.md", "js", "checkActive", base, id);

/** Runs code of a panel in an engine that has what Coherent GT has, and no more. */
async function runPanel(code: string, then: string): Promise<Output> {
  const runner = `
    const vm = require("node:vm");
    const quick = (next, ms) => setTimeout(next, ms / 5);
    const panel = vm.createContext({ fetch, console, setTimeout: quick, clearTimeout, end: process.exit });
    for (const name of ["AbortController", "AbortSignal"]) {
      if (vm.runInContext("typeof " + name, panel) !== "undefined") throw new Error(name);
    }
    vm.runInContext(${JSON.stringify(code)}, panel);
    vm.runInContext(${JSON.stringify(then)}, panel);`;
  return await run("node", ["--eval", runner]);
}

/** What one question gives, by language: the answer, and what was logged. */
const ASK: Record<
  string,
  (base: string, id: string, user: string) => Promise<Output>
> = {
  panel: async (base, id, user) =>
    await runPanel(
      await panel(base, id),
      `checkActive(${JSON.stringify(user)}).then(console.log)`,
    ),
  Python: async (base, id, user) =>
    await run("python3", [
      "-c",
      `${await snippet(CALLERS, "python", "check_active", base, id)}
print(check_active(${JSON.stringify(user)}))`,
    ]),
};

for (const [language, ask] of Object.entries(ASK)) {
  Deno.test(`snippet: ${language} asks once, and handles every status`, async () => {
    const { API_URL } = serviceUnderTest();
    await using project = await issueKeys([USER]);
    assertEquals((await ask(API_URL, project.id, USER)).stdout, "active");
    assertEquals(
      (await ask(API_URL, project.id, "zoë#4821")).stdout,
      "inactive",
    );
    assertEquals((await ask(DOWN, project.id, USER)).stdout, "no answer");

    const mistake = await ask(API_URL, "no UUID", USER);
    assertEquals(mistake.stdout, "mistake");
    assertStringIncludes(mistake.stderr, "Invalid username or project_id");

    await using broken = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
    );
    const url = `http://127.0.0.1:${broken.addr.port}`;
    assertEquals((await ask(url, project.id, "a")).stdout, "no answer");
  });
}

Deno.test("snippet: the panel gives no answer when none comes in time", async () => {
  const hanging = Promise.withResolvers<Response>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => hanging.promise,
  );
  const code = await panel(`http://127.0.0.1:${server.addr.port}`, SEEDED);
  const { stdout } = await runPanel(
    code.replace("10000", "2000"),
    // The request is still under way.
    `checkActive("a").then((answer) => { console.log(answer); end(); })`,
  ).finally(() => hanging.resolve(new Response()));
  assertEquals(stdout, "no answer");
});

Deno.test("snippet: the panel's code uses no syntax newer than Safari 11", async () => {
  await using folder = await makeTempFolder();
  const file = fileURLToPath(new URL("panel.js", folder.url));
  await Deno.writeTextFile(
    file,
    await codeBlock("README.md", "js", "checkActive") +
      await codeBlock(CALLERS, "js", "keepAsking"),
  );
  const build = (target: string) =>
    npx(`esbuild@${VERSIONS.esbuild}`, [file, `--target=${target}`]);
  const newest = await build("esnext");
  assert(newest.success, newest.stderr);
  for (const target of ["safari11", "es2017"]) {
    const { stdout, stderr } = await build(target);
    assertEquals(stdout, newest.stdout, `${target}: ${stderr}`);
  }
});

Deno.test("snippet: the panel unlocks, locks with a reason, and goes by the last yes without an answer", async () => {
  await using project = await issueKeys(["Amelia"]);
  const keepAsking = async (base: string, user: string, stored: string) => {
    const code = await panel(base, project.id) +
      await codeBlock(CALLERS, "js", "keepAsking");
    const { stdout, stderr } = await runPanel(
      code,
      `let stored = "${stored}";
       const store = { get: () => stored, set: (text) => { stored = text; } };
       const pauses = [];
       const wait = setTimeout;
       let timers = 0;
       // Each question sets a time-out, and then a pause, which passes at once here. Four will do.
       setTimeout = (next, ms) => {
         if (++timers % 2 === 1) return wait(next, ms);
         if (pauses.push(ms) < 4) return wait(next, 0);
         console.log("pauses", pauses.join(" "));
       };
       keepAsking("${user}", store, () => console.log("unlock", stored), (why) => console.log("lock:", why));`,
    );
    assertEquals(stderr, "");
    return stdout.split("\n");
  };
  const { API_URL } = serviceUnderTest();
  const [yes = ""] = await keepAsking(API_URL, "Amelia", "");
  assertMatch(yes, /^unlock \d{13}$/);
  assertEquals(await keepAsking(API_URL, "Bessie", `${Date.now()}`), [
    "lock: Not active for this product yet: fly it once.",
  ]);

  const daysAgo = (days: number) => `${Date.now() - days * 86_400_000}`;
  const [recent = ""] = await keepAsking(DOWN, "Amelia", daysAgo(13));
  assertMatch(recent, /^unlock/);
  for (const stored of [daysAgo(15), ""]) {
    const lines = await keepAsking(DOWN, "Amelia", stored);
    assertEquals(lines.length, 5);
    assertMatch(lines[0] ?? "", /^lock: Your key could not be checked yet/);
    const pauses = (lines.at(-1) ?? "").split(" ").slice(1).map(Number);
    for (const [index, pauseS] of [5, 10, 20, 40].entries()) {
      const pauseMs = pauses[index] ?? NaN;
      assert(pauseMs >= pauseS * 500 && pauseMs <= pauseS * 1500, `${pauses}`);
      assert(pauseMs !== pauseS * 1000, "it should vary");
    }
  }
});

Deno.test("snippet: Python keeps asking with growing pauses that vary, around ten minutes at most", async () => {
  const code = await snippet(CALLERS, "python", "keep_asking", DOWN, SEEDED);
  const { stdout, stderr } = await run("python3", [
    "-c",
    `${code}
pauses = []
def sleep(seconds):
    pauses.append(seconds)
    if len(pauses) == 9:
        print(*pauses)
        sys.exit()
time.sleep = sleep
keep_asking("Amelia")`,
  ]);
  const pauses = stdout.split(" ").map(Number);
  assertEquals(pauses.length, 9, stderr);
  for (
    const [index, middle] of [5, 10, 20, 40, 80, 160, 320, 600, 600].entries()
  ) {
    const pause = pauses[index] ?? NaN;
    assert(pause >= middle / 2 && pause <= middle * 1.5, stdout);
  }
  assert(pauses[7] !== pauses[8], "they should vary");
});

/** What the SDK's documentation says of its header, and a simulator that answers with one status. */
const SDK_HEADER = `
  typedef unsigned long long FsNetworkRequestId;
  typedef void (*HttpRequestCallback)(FsNetworkRequestId, int, void*);
  struct FsNetworkHttpRequestParam {
    char* postField; char** headerOptions; unsigned int headerOptionsSize;
    unsigned char* data; unsigned int dataSize;
  };
  extern "C" int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId);
  extern "C" FsNetworkRequestId fsNetworkHttpRequestPost(
    const char*, FsNetworkHttpRequestParam*, HttpRequestCallback, void*);
`;
const SIMULATOR = `
  #include <cstdio>
  static int status;
  extern "C" int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
  extern "C" FsNetworkRequestId fsNetworkHttpRequestPost(
      const char*, FsNetworkHttpRequestParam* param, HttpRequestCallback callback, void* data) {
    if (status == 200) std::puts(param->postField);
    if (status == 1) return 0;
    callback(7, 0, data);
    return 7;
  }
  int main() {
    const int statuses[] = {200, 499, 400, 500, 0, -1, 1};
    for (int next : statuses) {
      status = next;
      bool sent = checkActive("Zo\\u00eb \\"Ace\\" \\\\", [](Answer answer) { std::printf("%d ", (int)answer); });
      if (!sent) std::puts("not sent");
    }
  }
`;

Deno.test("snippet: C++ handles every status", async () => {
  await using folder = await makeTempFolder();
  await Deno.mkdir(new URL("MSFS", folder.url));
  await Deno.writeTextFile(
    new URL("MSFS/MSFS_Network.h", folder.url),
    SDK_HEADER,
  );
  const code = await codeBlock(CALLERS, "cpp", "checkActive");
  await Deno.writeTextFile(new URL("gauge.cpp", folder.url), code + SIMULATOR);
  const cwd = folder.url;
  const args = [
    "-std=c++17",
    "-Wall",
    "-Werror",
    "-I.",
    "gauge.cpp",
    "-o",
    "gauge",
  ];
  const compiled = await run("g++", args, { cwd });
  assert(compiled.success, compiled.stderr);

  const { stdout } = await run(fileURLToPath(new URL("gauge", cwd)), []);
  const [body = "", answers] = stdout.split("\n");
  assertEquals(JSON.parse(body), {
    username: 'Zoë "Ace" \\',
    project_id: SEEDED,
  });
  // Active, Inactive, Mistake, None, None, None.
  assertEquals(answers, "0 1 2 3 3 3 not sent");
});

Deno.test("snippet: curl prints the status, and 000 without an answer", async () => {
  await using project = await issueKeys(["CaptainKirin#0417"]);
  const ask = async (base: string, id: string) => {
    const code = await snippet(CALLERS, "sh", "write-out", base, id);
    return (await run("sh", ["-c", code])).stdout;
  };
  const { API_URL } = serviceUnderTest();
  assertEquals(await ask(API_URL, project.id), "200");
  assertEquals(await ask(API_URL, crypto.randomUUID()), "499");
  assertEquals(await ask(DOWN, project.id), "000");
});

Deno.test("snippet: the first curl answers as the README says, with the seed", async () => {
  const { API_URL } = serviceUnderTest();
  const code = await snippet("README.md", "sh", "curl -i", API_URL, SEEDED);
  const { stdout } = await run("sh", ["-c", code]);
  assertStringIncludes(stdout, "HTTP/1.1 200 OK");
  assertStringIncludes(stdout, '{"success":true}');
});

Deno.test("snippet: the SQL for keys does what it says", async () => {
  await using database = await openDatabase();
  await database.exec("set role service_role");

  const sql = await codeBlock("supabase/README.md", "sql", "-- Issue a key");
  const [issue = "", firstUse = "", move = "", release = "", remove = ""] = sql
    .trim().split("\n\n");
  const { rows: [key] } = await database.query<{ id: string }>(issue);
  const user = async (statement: string) => {
    assertStringIncludes(statement, "<key>");
    await database.exec(statement.replace("<key>", key?.id ?? ""));
    const { rows } = await database.query<{ curr_user: string | null }>(
      "select curr_user from public.activation_keys",
    );
    return rows.map((row) => row.curr_user);
  };
  assertEquals(await user(firstUse), ["Amelia#1937"]);
  assertEquals(await user(move), ["Amelia#1938"]);
  assertEquals(await user(firstUse), ["Amelia#1938"]);
  assertEquals(await user(release), [null]);
  assertEquals(await user(remove), []);
});
