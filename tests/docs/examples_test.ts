/** The code for callers: one list of scenarios, and random ones, in every language. */
import {
  assert,
  assertEquals,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import * as fc from "fast-check";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { npx, run } from "../../tools/command.ts";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_FOLDER, FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { testWith } from "../support/left_out.ts";
import { resultOf } from "../support/openapi.ts";
import { readExample } from "../support/pages.ts";
import { issueKeys, serviceUnderTest } from "../support/service_under_test.ts";
import { createPanel, startProgram } from "./examples/add_ons.ts";
import {
  type AddOn,
  createModel,
  play,
  SCENARIOS,
  START_S,
} from "./examples/simulation.ts";

/** The product in the code. */
const PRODUCT = SEEDED.project_id;

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

const DRIVERS = fileURLToPath(new URL("examples", import.meta.url));

/** What an add-on may get: from the function, the platform, or something on the way. */
const STATUSES = [
  ...[200, 201, 204, 302, 307, 400, 401, 402, 403, 404, 405, 407, 408],
  ...[413, 429, 499, 500, 502, 503, 504, 520, 540, 544, 546],
];

/** The list, with one scenario for each status, and one for a name. */
const ALL = [
  ...SCENARIOS,
  ...STATUSES.map((status) => {
    const result = resultOf(status);
    const does = result === "active"
      ? `unlock: ${START_S} Amelia`
      : `lock ${result}: nothing`;
    return [`0 service ${status}; ask Amelia -> asks Amelia; ${does}`];
  }),
  [`0 ask ${USER} -> asks ${USER}; unlock: ${START_S} ${USER}`],
];

/** Fails unless the add-on does what the list says, apart from scenarios with these events. */
async function assertFollowsList(addOn: AddOn, others: RegExp) {
  for (const lines of ALL.filter((lines) => !others.test(lines.join()))) {
    const steps = lines.map((line) => line.replace(/ ->.*/, ""));
    assertEquals(await play(addOn, steps), lines);
  }
}

/** Fails unless the add-on does what the model does, in random scenarios of these events. */
async function assertFollowsModel(
  addOn: AddOn,
  runs: number,
  kinds: string[][],
) {
  const model = createModel();
  const of = (texts: string[]) => fc.constantFrom(...texts);
  const event = fc.oneof(...kinds.map(of));
  const gap = fc.oneof(fc.nat(12), fc.nat(400));
  const scenario = fc.array(fc.tuple(gap, event), {
    minLength: 2,
    maxLength: 10,
  })
    .map((steps) => {
      let second = 0;
      // Tenths of their own, so that nothing happens at the same time.
      return steps.map(([gap, event], tenth) =>
        `${(second += gap)}.${tenth} ${event}`
      );
    });
  await fc.assert(
    fc.asyncProperty(scenario, async (steps) => {
      assertEquals(await play(addOn, steps), await play(model, steps));
    }),
    { numRuns: Number(Deno.env.get("FUZZ_RUNS") ?? runs) },
  );
}

/** What happens in random scenarios. */
const EVENTS = [
  ["ask Amelia", "ask Amelia", "ask Bessie", "ask 1999990 Amelia", "name"],
  ["callback asks Bessie; ask Amelia", "storage fine; ask Amelia", "stop"],
  ["200", "499", "400", "500", "off", "silent"].map((to) => `service ${to}`),
  ["200", "499", "413", "503"].map((status) => `answer ${status}`),
  ["-1", "3600", "-86400", "1209600"].map((step) => `clock ${step}`),
  ["stored 1999990 Amelia", "stored 2080000 Amelia", "storage broken"],
];

Deno.test("examples: the model of the rules does what the list says", async () => {
  await assertFollowsList(createModel(), /frames|empty|tasks/);
});

Deno.test("examples: panel.js keeps the rules", async () => {
  // Its pauses do not vary.
  const code = replace(await readExample("panel.js"), [
    ["(500 + 1000 * Math.random())", "1000"],
    ["<ref>", "example"],
  ]);
  const panel = createPanel(code);
  await assertFollowsList(panel, /frames|empty|tasks/);
  await assertFollowsModel(panel, 2_500, [
    ...EVENTS,
    ["storage read-only", "callback throws; ask Amelia"],
  ]);
});

/** Replaces texts that have to be there. */
function replace(code: string, texts: string[][]): string {
  for (const [what = "", by = ""] of texts) {
    assertStringIncludes(code, what);
    code = code.replaceAll(what, by);
  }
  return code;
}

const FOLDER = `check-username-active/${PRODUCT}.txt`;
const GPP = "g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -I. " +
  `-I${DRIVERS} -fno-exceptions -fno-rtti -fsanitize=address,undefined`;

/** Each file: what builds, starts and cannot happen to its add-on, where that stores, and what of the file the test replaces. */
const PROGRAMS = {
  "check_active.py": {
    build: "python3 -m py_compile check_active.py",
    start: ["python3", `${DRIVERS}/tool.py`],
    file: FOLDER,
    others: /frames|empty|tasks/,
    replaced: [
      ["TIMEOUT_S = 10", "TIMEOUT_S = 2"],
      ["random.uniform(0.5, 1.5)", "1"],
    ],
    test: Deno.test,
  },
  "gauge.cpp": {
    build: `${GPP} ${DRIVERS}/simulator.cpp`,
    start: ["./a.out"],
    file: `work/check-username-active.${PRODUCT}`,
    others: /throws|tasks/,
    replaced: [
      ["std::chrono::steady_clock", "FakeClock"],
      ["std::time(nullptr)", "wallClock()"],
      ["std::uniform_real_distribution<>(0.5, 1.5)(random_)", "1"],
      ["\\\\work\\\\", "work/"],
    ],
    test: Deno.test,
  },
  "ActivationCheck.cs": {
    build:
      "mcs -langversion:7.1 -warnaserror -define:TRACE -r:System.Net.Http" +
      ` -out:a.exe ActivationCheck.cs ${DRIVERS}/desktop.cs`,
    start: ["mono", "a.exe"],
    file: FOLDER,
    others: /frames|empty/,
    replaced: [
      ["FromSeconds(10)", "FromSeconds(2)"],
      ["= CheckActiveAsync(", "= Simulated.CheckActiveAsync("],
      ["= Task.Delay(", "= Simulated.Delay("],
      ["DateTimeOffset.UtcNow", "Simulated.UtcNow"],
      ["(0.5 + random.NextDouble())", "(1 + 0 * random.NextDouble())"],
    ],
    test: testWith("mcs and mono"),
  },
};

/** Runs a line of commands in a folder. Fails unless it succeeds. */
async function shell(cwd: URL, line: string, ...args: string[]) {
  const env = { LOCALAPPDATA: ".", XDG_DATA_HOME: fileURLToPath(cwd) };
  const output = await run("sh", ["-c", `${line} "$@"`, "sh", ...args], {
    cwd,
    env,
  });
  assert(output.success, output.stdout + output.stderr);
  return output;
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  const { build, start, file, others, replaced, test } = program;
  test(`examples: ${name} keeps the rules`, async () => {
    await using folder = await makeTempFolder();
    const cwd = folder.url;
    const { API_URL } = serviceUnderTest();
    await using standIn = await startStandIn(API_URL + FUNCTION_PATH);
    const address = ["https://<ref>.supabase.co", standIn.url];
    const code = replace(await readExample(name), [address, ...replaced]);
    await Deno.writeTextFile(new URL(name, cwd), code);
    await shell(cwd, build);

    const env = { LOCALAPPDATA: ".", XDG_DATA_HOME: fileURLToPath(cwd) };
    await using addOn = await startProgram(start, { cwd, env }, file);
    await assertFollowsList(addOn, others);
    await assertFollowsModel(addOn, 200, EVENTS);
    // What a gauge sends goes through the simulator.
    if (name === "gauge.cpp") return;

    await using _keys = await issueKeys([USER], PRODUCT);
    const users = { [USER]: "active", x: "inactive", "": "mistake" };
    const results = { ...RESULTS, ...users };
    const names = Object.keys(results);
    const asked = await shell(cwd, start.join(" "), ...names);
    assertEquals(asked.stdout.split("\n"), Object.values(results));
    assertStringIncludes(asked.stderr, "check-username-active: status 400");
    assertNotMatch(asked.stderr, /Traceback|Unhandled/);
  });
}

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
function startStandIn(address: string) {
  return listenOnLoopback(createServer(async (request, response) => {
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
}
