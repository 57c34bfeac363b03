/** The code for callers: one list of scenarios, and random ones, in every language. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as fc from "fast-check";
import { createServer } from "node:http";
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { testNeeding } from "../support/left_out.ts";
import { resultOf } from "../support/openapi.ts";
import { readExample } from "../support/pages.ts";
import { createPanel, startProgram } from "./examples/add_ons.ts";
import { type AddOn, play, SCENARIOS } from "./examples/simulation.ts";

/** The product in the code, and another one. */
const PRODUCT = SEEDED.project_id;
const SECOND_PRODUCT = crypto.randomUUID();

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

/** Names, and what comes back for each. The body of a status with a plus never comes. */
const NAMES = [
  USER,
  ..."nothing,garbage,end,200,302,307,400,499,200+,413+,499+,500+".split(","),
];
const statusOf = (name: string) => name === USER ? 200 : parseInt(name);

const service = await listenOnLoopback(
  createServer(async (request, response) => {
    // Only a followed redirect leads here.
    if (request.url !== FUNCTION_URL_PATH) return response.end();
    const { username, project_id } = JSON.parse(await text(request));
    if (username === "nothing") return;
    const isKnown = NAMES.includes(username) && project_id === PRODUCT;
    if (username === "end" || !isKnown) return request.socket.destroy();
    if (username === "garbage") return request.socket.end("garbage\r\n\r\n");
    response.writeHead(statusOf(username), { Location: "/" }).flushHeaders();
    if (!username.endsWith("+")) response.end("Not JSON");
  }),
);
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

const DRIVERS = fileURLToPath(new URL("examples", import.meta.url));
const ACORN = `npx --yes acorn@${VERSIONS.acorn} --ecma2017 --silent`;
const MCS = "mcs -langversion:7 -warnaserror -define:TRACE -out:a.exe " +
  "-r:System.Net.Http";
const CPP = "g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -fno-exceptions " +
  `-fno-rtti -fsanitize=address,undefined -I. -I${DRIVERS}`;
/** Runs the add-on without a window, and asks at an invalid address. */
const PYTHON = `python3 -c "import runpy, sys, unittest.mock as mock
sys.modules['tkinter'] = mock.MagicMock()
code = runpy.run_path('add_on')['keep_asking'].__globals__
code['SERVICE'] = 'https://' + 64 * 'a' + '.example'
assert code['check_active']('x') == 'no answer'"`;

/**
 * Each file for callers. `use` is the shipped add-on with it. `build` builds that, and a simulated
 * one: the file with these texts `replaced`. `program` starts the latter, which stores `file`.
 * `ignores` matches events that it does not have.
 */
const FILES = {
  "panel.js": {
    use: "panel.html",
    build: `${ACORN} panel.js add_on`,
    program: "",
    file: "",
    ignores: "frames|cut|empty|stops",
    replaced: [],
  },
  "check_active.py": {
    use: "tool.py",
    build: PYTHON,
    program: `env LOCALAPPDATA=. python3 ${DRIVERS}/tool.py`,
    file: `check-username-active/${PRODUCT}.txt`,
    ignores: "frames|cut|empty|tasks",
    replaced: [
      ["TIMEOUT_S = 10", "TIMEOUT_S = 2"],
      ["ended.wait(pause_s * random.uniform(0.5, 1.5))", "sleep(pause_s)"],
    ],
  },
  "gauge.cpp": {
    use: "gauge_use.cpp",
    // The add-on has another product.
    build: "mkdir -p MSFS/Legacy; touch MSFS/MSFS.h MSFS/Legacy/gauges.h;" +
      `sed -i s/${PRODUCT}/${SECOND_PRODUCT}/ gauge.cpp; mv add_on use.cpp;` +
      `${CPP} ${DRIVERS}/simulator.cpp use.cpp`,
    program: "./a.out",
    file: `work/check-username-active.${PRODUCT}`,
    ignores: "throws|stops|tasks",
    replaced: [
      ["std::chrono::steady_clock", "FakeClock"],
      ["std::time(nullptr)", "static_cast<long long>(wallS + 1e-6)"],
      [
        "std::uniform_real_distribution<>(0.5, 1.5)(random_)",
        "drawAfter(pauseS_)",
      ],
      ["\\\\work\\\\", "work/"],
    ],
  },
  "ActivationCheck.cs": {
    use: "Program.cs",
    build: `${MCS} ActivationCheck.cs ${DRIVERS}/window_forms.cs add_on && ` +
      `${MCS} simulated.cs ${DRIVERS}/desktop.cs`,
    program: "env LC_ALL=C.UTF-8 XDG_DATA_HOME=$PWD mono a.exe",
    file: `check-username-active/${PRODUCT}.txt`,
    ignores: "frames|cut|empty",
    replaced: [
      ["FromSeconds(10)", "FromSeconds(2)"],
      ["= CheckActiveAsync(", "= Simulated.CheckActiveAsync("],
      ["= Task.Delay(", "= Simulated.Delay("],
      ["DateTimeOffset.UtcNow", "Simulated.UtcNow"],
      ["(0.5 + random.NextDouble())", "(1 + 0 * random.NextDouble())"],
    ],
  },
};

/** Replaces texts that have to be there, the address among them. */
function simulated(code: string, replaced: string[][]): string {
  const address = ["https://<ref>.supabase.co", service.url];
  for (const [what = "", by = ""] of [address, ...replaced]) {
    assertStringIncludes(code, what);
    code = code.replaceAll(what, by);
  }
  return code;
}

/** The panel's code, whose pauses do not vary. */
const PANEL = simulated(await readExample("panel.js"), [
  ["(500 + 1000 * Math.random())", "1000"],
]);

/** Fails unless the add-on does what the list says, without the scenarios that it ignores. */
async function assertFollowsList(addOn: AddOn, ignores: string) {
  for (const lines of SCENARIOS) {
    if (RegExp(ignores).test(lines.join())) continue;
    const steps = lines.map((line) => line.replace(/ ->.*/, ""));
    assertEquals(await play(addOn, steps), lines);
  }
}

/** Random scenarios of the list's events, with seconds or minutes between two steps. */
function randomScenarios(ignores: string) {
  const events = SCENARIOS.flat()
    .map((line) => line.replace(/^[\d.]+ ?| ?->.*/g, ""))
    .filter((events) => !RegExp(ignores).test(events));
  const seconds = fc.oneof(fc.nat(12), fc.nat(400));
  const step = fc.tuple(seconds, fc.constantFrom(...events));
  return fc.array(step, { minLength: 2, maxLength: 10 }).map((steps) => {
    let second = 0;
    // Tenths of their own, so that nothing happens at the same time.
    return steps.map(([seconds, event], tenth) =>
      `${(second += seconds)}.${tenth} ${event}`
    );
  });
}

for (const [name, row] of Object.entries(FILES)) {
  const { use, build, program, file, ignores, replaced } = row;
  // The gauge is the fastest.
  const runs = name === "gauge.cpp" ? 2_500 : 200;
  const test = name.endsWith(".cs") ? testNeeding("mcs and mono") : Deno.test;
  test(`examples: ${name} does what the list says, and what the other files do`, async () => {
    const used = await readExample(use);
    const shipped = await readExample(name);
    await using folder = await makeTempFolder({
      [name]: shipped,
      add_on: used.match(/<script>([^]*)<\/script>/)?.[1] ?? used,
      [`simulated${extname(name)}`]: simulated(shipped, replaced),
    });
    const cwd = fileURLToPath(folder.url);
    const built = await run("sh", ["-c", build], { cwd });
    const isBuilt = built.success && !built.stderr.includes("Traceback");
    assert(isBuilt, built.stdout + built.stderr);

    const panel = createPanel(PANEL, cwd);
    if (!program) return await assertFollowsList(panel, ignores);
    using addOn = startProgram(program, cwd, file);
    await assertFollowsList(addOn, ignores);
    // Left out: what nobody does (very long numbers, no name), and when threads end.
    const leftOut = `${ignores}|${FILES["panel.js"].ignores}|9{20}|ask$|tasks`;
    await fc.assert(
      fc.asyncProperty(randomScenarios(leftOut), async (steps) => {
        assertEquals(await play(addOn, steps), await play(panel, steps));
      }),
      { numRuns: Number(Deno.env.get("FUZZ_RUNS") ?? runs) },
    );

    if (name === "gauge.cpp") {
      const said = await addOn.tell("second", "Amelia");
      assertStringIncludes(said.join(), SECOND_PRODUCT);
    } else {
      for (const name of NAMES) {
        const result = resultOf(statusOf(name));
        const said = await addOn.tell("check", name);
        assertEquals(said.pop(), result, name);
        assertEquals(/status 4/.test(said.join()), result === "mistake");
      }
    }
  });
}
