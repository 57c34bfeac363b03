/** The code for callers: one list of scenarios, and random ones, in every language. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as fc from "fast-check";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { testWith } from "../support/left_out.ts";
import { resultOf } from "../support/openapi.ts";
import { CALLERS, codeBlock, readExample } from "../support/pages.ts";
import { issueKeys, serviceUnderTest } from "../support/service_under_test.ts";
import { createPanel, startProgram } from "./examples/add_ons.ts";
import { type AddOn, play, SCENARIOS, START_S } from "./examples/simulation.ts";

/** The product in the code. */
const PRODUCT = SEEDED.project_id;

/** A name with everything that could get lost on its way. */
const USER = 'Zoë "Ace" \\ \t\u0001 😀#4821';

/** What happens in random scenarios. */
const EVENTS = [
  ["ask Amelia", "ask Amelia", "ask Bessie", "ask 1999990 Amelia", "name"],
  ["callback asks Bessie; ask Amelia", "callback throws; ask Amelia", "stop"],
  ["200", "499", "400", "500", "off", "silent"].map((to) => `service ${to}`),
  ["200", "499", "413", "503"].map((status) => `answer ${status}`),
  ["-1", "3600", "-86400", "1209600"].map((step) => `clock ${step}`),
  ["stored 1999990 Amelia", "stored 2080000 Amelia", "storage broken"],
  ["storage fine; ask Amelia"],
].flat();

/** Random scenarios without some events. Between two steps pass seconds, or minutes. */
function scenarios(others: RegExp) {
  const event = fc.constantFrom(...EVENTS.filter((it) => !others.test(it)));
  const step = fc.tuple(fc.oneof(fc.nat(12), fc.nat(400)), event);
  return fc.array(step, { minLength: 2, maxLength: 10 }).map((steps) => {
    let second = 0;
    // Tenths of their own, so that nothing happens at the same time.
    return steps.map(([seconds, event], tenth) =>
      `${(second += seconds)}.${tenth} ${event}`
    );
  });
}

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

/** Fails unless the add-on does what the list says, apart from scenarios with these events. */
async function assertFollowsList(addOn: AddOn, others: RegExp) {
  for (const lines of SCENARIOS.filter((lines) => !others.test(lines.join()))) {
    const steps = lines.map((line) => line.replace(/ ->.*/, ""));
    assertEquals(await play(addOn, steps), lines);
  }
}

const DRIVERS = fileURLToPath(new URL("examples", import.meta.url));
const CPP = `g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -I. -I${DRIVERS} ` +
  "-fno-exceptions -fno-rtti -fsanitize=address,undefined";
const CS = "mcs -langversion:7 -warnaserror -define:TRACE -out:a.exe " +
  "-r:System.Net.Http ActivationCheck.cs";
const ACORN = `npx --yes acorn@${VERSIONS.acorn}`;
/** Runs the add-on on the page without a window, and asks at an address that is none. */
const PYTHON = `python3 -c "import runpy, sys, unittest.mock as mock
sys.modules['tkinter'] = mock.MagicMock()
code = runpy.run_path('add_on')['keep_asking'].__globals__
code['SERVICE'] = 'https://' + 64 * 'a' + '.example'
assert code['check_active']('x') == 'no answer'"`;

/**
 * Each file, with the language of the add-on on the page, what takes both as they are, what builds and
 * starts the test's add-on, where that stores, and what it does not know.
 */
const FILES = {
  "panel.js": {
    language: "html",
    take: `${ACORN} --ecma2017 --silent panel.js add_on`,
    build: "",
    program: [],
    entry: "",
    others: /frames|empty|tasks/,
    replaced: [],
  },
  "check_active.py": {
    language: "python",
    take: PYTHON,
    build: "true",
    program: ["python3", `${DRIVERS}/tool.py`],
    entry: `check-username-active/${PRODUCT}.txt`,
    others: /frames|empty|tasks/,
    replaced: [
      ["TIMEOUT_S = 10", "TIMEOUT_S = 2"],
      ["random.uniform(0.5, 1.5)", "1"],
    ],
  },
  "gauge.cpp": {
    language: "cpp",
    take: `${CPP} -c -xc++ -include gauge.cpp add_on`,
    build: `${CPP} ${DRIVERS}/simulator.cpp second.cpp`,
    program: ["./a.out"],
    entry: `work/check-username-active.${PRODUCT}`,
    others: /throws|tasks/,
    replaced: [
      ["std::chrono::steady_clock", "FakeClock"],
      ["std::time(nullptr)", "wallClock()"],
      ["std::uniform_real_distribution<>(0.5, 1.5)(random_)", "1"],
      ["\\\\work\\\\", "work/"],
    ],
  },
  "ActivationCheck.cs": {
    language: "csharp",
    take: `${CS} window.cs add_on`,
    build: `${CS} ${DRIVERS}/desktop.cs`,
    program: ["mono", "a.exe"],
    entry: `check-username-active/${PRODUCT}.txt`,
    others: /frames|empty/,
    replaced: [
      ["FromSeconds(10)", "FromSeconds(2)"],
      ["= CheckActiveAsync(", "= Simulated.CheckActiveAsync("],
      ["= Task.Delay(", "= Simulated.Delay("],
      ["DateTimeOffset.UtcNow", "Simulated.UtcNow"],
      ["(0.5 + random.NextDouble())", "(1 + 0 * random.NextDouble())"],
    ],
  },
};

/** Just enough of Windows Forms to compile against. */
const WINDOW = `namespace System.Windows.Forms {
  public class Control {
    public string Text; public int Top; public bool Visible, AutoSize; public EventHandler Click, Load, FormClosed;
    public Collections.Generic.List<Control> Controls;
  }
  public class Label : Control {} public class TextBox : Control {} public class Button : Control {}
  public class Form : Control {} public class Application { public static void Run(Form form) {} }
}`;

/** A second gauge in the program of the first one. */
const SECOND_PRODUCT = crypto.randomUUID();
const SECOND_GAUGE = `
void askAboutSecondProduct() {
  static activation::Asking asking([] {}, [](activation::Result) {});
  asking.ask("Amelia");
  asking.update();
}`;

for (const [name, file] of Object.entries(FILES)) {
  const { language, take, build, program, entry, others, replaced } = file;
  // The gauge is the fastest.
  const runs = name === "gauge.cpp" ? 2_500 : 200;
  const test = name.endsWith(".cs") ? testWith("mcs and mono") : Deno.test;
  test(`examples: ${name} does what the list says, and what the other files do`, async () => {
    await using folder = await makeTempFolder();
    const cwd = fileURLToPath(folder.url);
    const options = { cwd, env: { LOCALAPPDATA: ".", XDG_DATA_HOME: cwd } };
    const write = (name: string, text: string) =>
      Deno.writeTextFile(new URL(name, folder.url), text);
    const shell = async (line: string, ...args: string[]) => {
      const output = await run(
        "sh",
        ["-c", `${line} "$@"`, "sh", ...args],
        options,
      );
      assert(output.success, output.stdout + output.stderr);
      assert(!/Traceback|Unhandled/.test(output.stderr), output.stderr);
      return output;
    };

    const shipped = await readExample(name);
    const page = await codeBlock(CALLERS, language, "");
    await write(name, shipped);
    await write("add_on", page.match(/<script>([^]*)<\/script>/)?.[1] ?? page);
    await write("window.cs", WINDOW);
    await shell(take);
    const panel = createPanel(PANEL);
    if (name === "panel.js") return await assertFollowsList(panel, others);

    const { API_URL } = serviceUnderTest();
    await using standIn = await startStandIn(API_URL + FUNCTION_PATH);
    const address = ["https://<ref>.supabase.co", standIn.url];
    await write(name, replace(shipped, [address, ...replaced]));
    const second = replace(shipped, [[PRODUCT, SECOND_PRODUCT]]);
    await write("second.cpp", second + SECOND_GAUGE);
    await shell(build);
    await using addOn = startProgram(program, options, entry);
    await assertFollowsList(addOn, others);
    await fc.assert(
      fc.asyncProperty(scenarios(others), async (steps) => {
        assertEquals(await play(addOn, steps), await play(panel, steps));
      }),
      { numRuns: Number(Deno.env.get("FUZZ_RUNS") ?? runs) },
    );
    if (name === "gauge.cpp") {
      const said = await addOn.tell("second", 0, START_S);
      return assertStringIncludes(said.join(), SECOND_PRODUCT);
    }

    await using _keys = await issueKeys([USER], PRODUCT);
    const results = {
      ...Object.fromEntries(
        RESPONSES.map((it) => [it, resultOf(parseInt(it))]),
      ),
      ...{ [USER]: "active", x: "inactive", "": "mistake" },
    };
    const asked = await shell(program.join(" "), ...Object.keys(results));
    assertEquals(asked.stdout.split("\n"), Object.values(results));
    assertStringIncludes(asked.stderr, "check-username-active: status 400");
  });
}

/** What comes back for a name. Only the status counts. */
const RESPONSES = [
  ...["nothing", "garbage", "an end", "200", "302", "307"],
  ...["200", "499", "413", "500"].map((status) => `${status} without its body`),
];

/** A service that does what the name says. Other names come to the one under test. */
function startStandIn(address: string) {
  return listenOnLoopback(createServer(async (request, response) => {
    // Only who follows a redirect comes elsewhere.
    if (request.url !== FUNCTION_PATH) return response.end();
    const body = await text(request);
    const { username } = JSON.parse(body);
    if (!RESPONSES.includes(username)) {
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
