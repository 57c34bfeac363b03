/** The code for callers does what `scenarios.txt` says, in every language. */
import { assert, assertEquals } from "@std/assert";
import { exec, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { readPage } from "../support/pages.ts";
import { startPanel } from "./drivers/panel.js";
import { play, resultOf, SCENARIOS, startProgram } from "./scenarios.ts";

/** A name with all that could get lost. The status that the service sends is appended to it. */
const NAME = 'Zoë "Ace" \\ \t\u0001 😀#';
const STATUSES = ["200", "499", "302", "413", "no connection", "no response"];
const service = await listenOnLoopback(
  createServer(async (request, response) => {
    // Only a followed redirect leads elsewhere.
    if (request.url !== FUNCTION_URL_PATH) return response.end();
    const { username, project_id } = JSON.parse(await text(request));
    const isRight = project_id === SEEDED.project_id &&
      username.startsWith(NAME);
    const status = isRight ? username.slice(NAME.length) : "";
    if (status === "no response") return;
    if (!Number(status)) return request.socket.destroy();
    response.writeHead(Number(status), { Location: "/" }).flushHeaders();
    // Only a redirect's body ends: clients that follow read it first.
    if (status === "302") response.end();
  }),
);
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

const DRIVERS = fileURLToPath(new URL("drivers", import.meta.url));
const STORED_FILE = `check-username-active/${SEEDED.project_id}.txt`;
/** What is replaced in the files, so that they ask the service above, and in simulated time. */
const EDITS: [shipped: string, tested: string][] = [
  ["https://<ref>.supabase.co", service.url],
  ["TIMEOUT_S = 10", "TIMEOUT_S = 2"],
  ["FromSeconds(10)", "FromSeconds(2)"],
  ["= CheckActiveAsync(", "= Simulated.CheckActiveAsync("],
  ["= Task.Delay(", "= Simulated.Delay("],
  ["DateTimeOffset.UtcNow", "Simulated.UtcNow"],
  ["0.5 + random.NextDouble()", "1 + 0 * random.NextDouble()"],
  ["std::chrono::steady_clock", "SimulatedClock"],
  ["std::time(nullptr)", "static_cast<long long>(wallS + 1e-6)"],
  ["std::uniform_real_distribution<>(0.5, 1.5)(random_)", "drawAfter(pauseS_)"],
];

/**
 * `build` makes a program of a file and the page's snippet. `command` runs it, in a folder below.
 * `stored` is where it stores. It `needs` these commands, and skips scenarios with what it `lacks`.
 */
const FILES = {
  "panel.js": {
    build:
      `npx --yes acorn@${VERSIONS.acorn} --ecma2017 --silent panel.js snippet.js`,
    command: "", // It runs in this process.
    stored: "panel.txt",
    needs: [],
    lacks: /frames|storage (full|cut)/,
  },
  "check_active.py": {
    build: "python3 -c 'import snippet'",
    command: `python3 ${DRIVERS}/driver.py`,
    stored: STORED_FILE,
    needs: ["python3", "prlimit"],
    lacks: /frames|storage cut/,
  },
  "gauge.cpp": {
    build: "mkdir -p MSFS/Legacy && " +
      "touch MSFS/MSFS.h MSFS/MSFS_Network.h MSFS/Legacy/gauges.h && " +
      "g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -fno-exceptions -I. " +
      `-fno-rtti -fsanitize=address,undefined ${DRIVERS}/gauge_driver.cpp`,
    command: "../a.out",
    // On Linux, backslashes are a part of a file's name.
    stored: `\\work\\check-username-active.${SEEDED.project_id}`,
    needs: ["g++", "prlimit"],
    lacks: /error/,
  },
  "ActivationCheck.cs": {
    build: "mcs -langversion:7 -warnaserror -r:System.Net.Http " +
      `-out:a.exe ActivationCheck.cs snippet.cs ${DRIVERS}/Driver.cs`,
    command: "mono ../a.exe",
    stored: STORED_FILE,
    needs: ["mcs", "mono", "prlimit"],
    lacks: /frames|storage cut/,
  },
};

const page = await readPage("supabase/clients/README.md");

for (const [file, row] of Object.entries(FILES)) {
  const { needs, build, command, stored, lacks } = row;
  const missing = needs.filter((it) => spawnSync(it, ["--version"]).error);
  const ignore = missing.length > 0;
  const suffix = ignore ? ` (left out: no ${missing.join(", ")})` : "";
  Deno.test({ name: `clients: ${file}${suffix}`, ignore }, async (t) => {
    const extension = extname(file);
    const shipped = await readPage(`supabase/clients/${file}`);
    const block = "```" + extension.slice(1) + "\n";
    const snippet = page.split(block)[1]?.split("```")[0];
    assert(snippet, "the page has a snippet for it");
    await using folder = await makeTempFolder({
      [file]: EDITS.reduce((code, edit) => code.replaceAll(...edit), shipped),
      [`snippet${extension}`]: snippet,
    });
    const dir = fileURLToPath(folder.url);
    await promisify(exec)(build, { cwd: dir });

    for (const [name, lines] of Object.entries(SCENARIOS)) {
      const fn = async () => {
        const cwd = await Deno.makeTempDir({ dir });
        const path = `${cwd}/${stored}`;
        using program = command
          ? await startProgram(command, cwd)
          : startPanel(path);
        const steps = lines.map((line) => line.replace(/ ->.*/, ""));
        assertEquals(await play(program, path, steps), lines);
      };
      await t.step({ name, ignore: lacks.test(lines.join()), fn });
    }
    // A panel and a gauge have no HTTP here.
    if (stored !== STORED_FILE) return;
    await t.step("asks a real service", async () => {
      const cwd = await Deno.makeTempDir({ dir });
      using program = await startProgram(command, cwd);
      for (const status of STATUSES) {
        const said = await program.tell(0, 0, "check", NAME + status);
        assertEquals(said.at(-1), resultOf(status), status);
      }
    });
  });
}
