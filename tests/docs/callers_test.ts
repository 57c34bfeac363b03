/** The code for callers: one list of histories, and random ones, in every language. */
import {
  assert,
  assertEquals,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import * as fc from "fast-check";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { npx, run } from "../../tools/command.ts";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_FOLDER, FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { resultOf } from "../support/openapi.ts";
import { CALLERS, codeBlock, readExample } from "../support/pages.ts";
import { issueKeys, serviceUnderTest } from "../support/service_under_test.ts";
import { HISTORIES, START_S } from "./callers/histories.ts";
import { playModel } from "./callers/model.ts";
import { playPanel } from "./callers/panel.ts";
import { playProgram, startProgram } from "./callers/program.ts";

/** The product in the code. */
const PRODUCT = SEEDED.project_id;

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

const DRIVERS = fileURLToPath(new URL("callers", import.meta.url));

/** Replaces texts that have to be there. */
function replace(code: string, texts: string[][]): string {
  for (const [what = "", by = ""] of texts) {
    assertStringIncludes(code, what);
    code = code.replaceAll(what, by);
  }
  return code;
}

/** The panel's code, whose pauses do not vary. */
const PANEL = replace(await readExample("panel.js"), [
  ["(500 + 1000 * Math.random())", "1000"],
  ["<ref>", "example"],
]);

/** What an add-on may get: from the function, the platform, or something on the way. */
const STATUSES = [
  ...[200, 201, 204, 302, 307, 400, 401, 402, 403, 404, 405, 407, 408],
  ...[413, 429, 499, 500, 502, 503, 504, 520, 540, 544, 546],
];

/** The list, with one history for each status, and one for a name. */
const ALL = [
  ...HISTORIES,
  ...STATUSES.map((status) => {
    const result = resultOf(status);
    const does = result === "active"
      ? `unlock: ${START_S} Amelia`
      : `lock ${result}: nothing`;
    return [`0 service ${status}; ask Amelia -> asks Amelia; ${does}`];
  }),
  [
    `0 ask ${USER} -> asks ${USER}; unlock: ${START_S} ${USER}`,
    `1 service off; ask ${USER} -> asks ${USER}; unlock: ${START_S} ${USER}`,
  ],
];

const inputsOf = (lines: string[]) =>
  lines.map((line) => line.replace(/ ->.*/, ""));

/** A request is shown by its body. The lists have its name, if the rest is right. */
const named = (line: string) =>
  line.replaceAll(/asks (\{.*?\})/g, (_, body) => {
    const { username, ...rest } = JSON.parse(body);
    assertEquals(rest, { project_id: PRODUCT });
    return `asks ${username}`;
  });

Deno.test("callers: the model of the rules does what the list says", async () => {
  for (const lines of ALL) {
    assertEquals(await playModel(inputsOf(lines)), lines);
  }
});

Deno.test("callers: panel.js does what the list says", async () => {
  for (const lines of ALL.filter((lines) => !lines.join().includes("stop"))) {
    const seen = await playPanel(PANEL, inputsOf(lines));
    assertEquals(seen.map(named), lines);
  }
});

const STORAGES = ["storage fine; ", "storage broken; "];

/** Random histories. A callback that throws ends the asking, except in a gauge, whose frames go on. */
function histories(storages: string[], callbacks: string[]) {
  const of = (...texts: string[]) => fc.constantFrom(...texts);
  const name = of("Amelia", "Bessie", "1999990 Amelia");
  const event = fc.oneof(
    fc.tuple(of("", ...storages), of("", ...callbacks), name)
      .map(([storage, callback, name]) => `${storage}${callback}ask ${name}`),
    of("200", "499", "400", "500", "off", "silent").map((to) =>
      `service ${to}`
    ),
    of("200", "499", "413", "503").map((status) => `answer ${status}`),
    of("-1", "3600", "-86400", "1209600").map((step) => `clock ${step}`),
  );
  const gap = fc.oneof(fc.nat(12), fc.nat(400));
  return fc.array(fc.tuple(gap, event), { minLength: 2, maxLength: 10 })
    .map((steps) => {
      let second = 0;
      // Tenths of their own, so that nothing happens at the same time.
      return steps.map(([gap, event], tenth) =>
        `${(second += gap)}.${tenth} ${event}`
      );
    });
}

Deno.test("callers: panel.js keeps the rules in any history", async () => {
  const anything = histories(
    [...STORAGES, "storage read-only; ", "stored 1999990 Amelia; "],
    ["throw; ", "anew Bessie; "],
  );
  await fc.assert(
    fc.asyncProperty(anything, async (lines) => {
      const seen = await playPanel(PANEL, lines);
      assertEquals(seen.map(named), await playModel(lines));
    }),
    { numRuns: Number(Deno.env.get("FUZZ_RUNS") ?? 2_500) },
  );
});

const FOLDER = `check-username-active/${PRODUCT}.txt`;

/** Each file: its language, where it stores, what builds and runs it, and what of it is the test's. */
const LANGUAGES = {
  "check_active.py": [
    ["python", FOLDER, "true", `python3 ${DRIVERS}/tool.py`],
    ["TIMEOUT_S = 10", "TIMEOUT_S = 2"],
    ["random.uniform(0.5, 1.5)", "1"],
  ],
  "gauge.cpp": [
    [
      ...["cpp", `check-username-active.${PRODUCT}`],
      `g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -I. ${DRIVERS}/simulator.cpp`,
      "./a.out",
    ],
    ["#include <MSFS/MSFS_Network.h>", ""],
    ["std::chrono::steady_clock", "FakeClock"],
    ["std::time(nullptr)", "wallClock()"],
    ["std::uniform_real_distribution<>(0.5, 1.5)(random_)", "1"],
    ["\\\\work\\\\", ""],
  ],
  "ActivationCheck.cs": [
    [
      ...["csharp", FOLDER],
      "(echo 'class Page { static async System.Threading.Tasks.Task Call(System.Action ShowWindow, System.Action<Activation> ShowActivation) {'; cat call; echo '} }') > Page.cs && " +
      `mcs -langversion:latest -warnaserror -define:TRACE -r:System.Net.Http -out:a.exe ActivationCheck.cs Page.cs ${DRIVERS}/desktop.cs`,
      "mono a.exe",
    ],
    ["FromSeconds(10)", "FromSeconds(2)"],
    ["await CheckActiveAsync(", "await World.CheckActiveAsync("],
    ["await Task.Delay(", "await World.Delay("],
    ["DateTimeOffset.UtcNow", "World.UtcNow"],
    ["(0.5 + random.NextDouble())", "(1 + 0 * random.NextDouble())"],
  ],
};

/** What comes back for a name, and what that means. */
const RESULTS = {
  "nothing": "no answer",
  "200": "active",
  "200 without its body": "active",
  "499 without its body": "inactive",
  "413 without its body": "mistake",
  "302": "no answer",
  "307": "no answer",
  "500 without its body": "no answer",
  "garbage": "no answer",
  "an end": "no answer",
};

/** A service that does what the name says. Other names come to the one under test. */
const startStandIn = (address: string) =>
  listenOnLoopback(createServer(async (request, response) => {
    // Only who follows a redirect comes elsewhere.
    if (request.url !== FUNCTION_PATH) return response.end();
    const body = await text(request);
    const { username } = JSON.parse(body);
    if (!(username in RESULTS)) {
      const { status } = await fetch(address, { method: "POST", body });
      return response.writeHead(status).end("Forwarded");
    }
    if (username === "nothing") return;
    if (username === "an end") return request.socket.destroy();
    if (username === "garbage") return request.socket.end("garbage\r\n\r\n");
    response.writeHead(parseInt(username), { Location: "/" }).flushHeaders();
    if (!username.includes("without")) response.end("Not JSON");
  }));

const hasMono = spawnSync("mcs", ["--version"]).status === 0;

for (const [file, [how, ...replaced]] of Object.entries(LANGUAGES)) {
  const [language = "", stored = "", build = "", start = ""] = how ?? [];
  const ignore = start.startsWith("mono") && !hasMono;
  Deno.test(`callers: ${file} keeps the rules`, { ignore }, async () => {
    await using folder = await makeTempFolder();
    const cwd = folder.url;
    const { API_URL } = serviceUnderTest();
    await using standIn = await startStandIn(API_URL + FUNCTION_PATH);
    const address = ["https://<ref>.supabase.co", standIn.url];
    const code = replace(await readExample(file), [address, ...replaced]);
    const call = await codeBlock(CALLERS, language, SEEDED.username);
    await Deno.writeTextFile(new URL(file, cwd), code);
    await Deno.writeTextFile(new URL("call", cwd), call);
    const env = { LOCALAPPDATA: ".", XDG_DATA_HOME: fileURLToPath(cwd) };
    const shell = async (command: string, ...args: string[]) => {
      const line = ["-c", `${command} "$@"`, "sh", ...args];
      const output = await run("sh", line, { cwd, env });
      assert(output.success, output.stdout + output.stderr);
      return output;
    };
    await shell(build);

    const entry = new URL(stored, cwd);
    await using program = await startProgram(start, { cwd, env }, entry);
    const random = fc.sample(histories(STORAGES, ["anew Bessie; "]), 200);
    for (const lines of [...ALL, ...await Promise.all(random.map(playModel))]) {
      const seen = await playProgram(program, inputsOf(lines));
      assertEquals(seen.map(named), lines);
    }
    // What a gauge sends goes through the simulator.
    if (file === "gauge.cpp") return;

    await using _keys = await issueKeys([USER], PRODUCT);
    const users = { [USER]: "active", x: "inactive", "": "mistake" };
    const results = { ...RESULTS, ...users };
    const asked = await shell(start, ...Object.keys(results));
    assertEquals(asked.stdout.split("\n"), Object.values(results));
    assertStringIncludes(asked.stderr, "check-username-active: status 400");
    assertNotMatch(asked.stderr, /Traceback|Unhandled/);
  });
}

Deno.test("callers: panel.js needs nothing newer than ES2017, and is called as its page says", async () => {
  const call = await codeBlock(CALLERS, "js", SEEDED.username);
  let asked: unknown[] = [];
  const keepAsking = async (...args: unknown[]) => await (asked = args);
  new Function(
    ...["RegisterViewListener", "activation", "showPanel", "showActivation"],
    call,
  )(
    (_: string, ready: () => void) => ready(),
    { keepAsking },
    "unlock",
    "lock",
  );
  assertEquals(asked, [SEEDED.username, "unlock", "lock"]);
  const path = fileURLToPath(new URL("examples/panel.js", FUNCTION_FOLDER));
  const args = ["--ecma2017", "--silent", path];
  const { success, stderr } = await npx(`acorn@${VERSIONS.acorn}`, args);
  assert(success, stderr);
});
