/** The code for callers does what `scenarios.txt` says, in every language. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { readBlock, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { runPanel } from "./drivers/panel_driver.js";

/**
 * A service whose address ends with `?STATUS&NAME`. It responds with this status, and a body that
 * never ends. At `silent`, it does not respond; at `off`, or about another name, it hangs up.
 */
const service = await listenOnLoopback(
  createServer(async (request, response) => {
    const [path, status, name] = request.url!.split(/[?&]/)
      .map(decodeURIComponent);
    // Whoever follows a redirect comes here, and gets a 200.
    if (path !== FUNCTION_URL_PATH) return response.end();
    const body = await text(request).catch(() => "{}"); // A driver that ends breaks it off.
    const { username, project_id } = JSON.parse(body);
    const isRight = username === name && project_id === SEEDED.project_id;
    if (!isRight || status === "off") return request.socket.destroy();
    if (status === "silent") return;
    response.writeHead(Number(status), { Location: "/" }).flushHeaders();
    // Only a redirect's body ends: clients that follow read it first.
    if (status === "302") response.end();
  }),
);
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

/** The shell line for each event that does something to the stored file. */
const STORAGE: Record<string, string> = {
  "storage broken": "mkdir -p $FILE",
  "storage cut": "truncate --size=11 $FILE",
  "storage full": "prlimit --fsize=4 --pid=$PPID", // $PPID is the driver.
};

/** With this environment, the code in Python and C# stores in the current folder. */
const HERE = "LOCALAPPDATA=. XDG_DATA_HOME=$PWD";

/**
 * Returns a function that runs events in a new process of a driver, and returns what it prints. The
 * code stores its entry, and `lineEnd` after it, in the file at this path.
 */
const inProgram = (driver: string, path: string, lineEnd = "") => {
  const toLine = (event: string) => {
    const entry = event.match(/^stored (.*)/)?.[1];
    const shLine = entry
      ? `mkdir -p $(dirname $FILE); printf '%s${lineEnd}' '${entry}' > $FILE`
      : STORAGE[event];
    return shLine ? `sh ${shLine}` : event;
  };
  // The trap makes a write past the limit of `storage full` fail, not end the driver.
  const command =
    `trap "" XFSZ; FILE=${path} ${HERE} LC_ALL=C.UTF-8 exec ${driver}`;

  return async (events: string[], cwd: string) => {
    const running = runLine(command, { cwd, timeout: 60_000 });
    running.child.stdin?.end(events.map(toLine).join("\n"));
    return (await running).stdout.split("\n")
      .filter((line) => line && !line.startsWith("w32error")); // Mono prints these.
  };
};

const DRIVERS = fileURLToPath(new URL("drivers", import.meta.url));
const STORED_FILE = `check-username-active/${SEEDED.project_id}.txt`;
const ADDRESS = "https://<ref>.supabase.co";

interface Client {
  needs: string[]; // Commands without which its test is left out.
  build: string; // Parses or compiles the file and the page's snippet.
  checks?: Record<string, string>; // Shell lines for what no scenario shows.
  /**
   * Runs its driver through events, and returns what it prints, line by line. It reads:
   * - what happens in `scenarios.txt`; but `sh LINE` for what happens to a file;
   * - `until SECOND`, and lets time pass; `print TEXT`, and prints TEXT;
   * - `threads`, and fails unless stopping waits for the callback of another thread.
   * It prints what the code does in `scenarios.txt`; but `asks BODY` where it sends nothing.
   */
  run: (events: string[], cwd: string) => Promise<string[]>;
  skips: RegExp; // Scenarios that do not concern it.
  edits: Record<string, string>; // In the file, to simulate time and to ask the service above.
}

/** Sends `threads` twice: a response calls back, and then the 200 that is stored. */
const checkStop = (driver: string) =>
  `mkdir stop && cd stop && printf 'threads\nthreads' | ${HERE} ${driver}`;
const PYTHON = `python3 ${DRIVERS}/check_active_driver.py`;

const FILES: Record<string, Client> = {
  "panel.js": {
    needs: [],
    build:
      `npx --yes acorn@${VERSIONS.acorn} --ecma2017 --silent panel.js snippet.js`,
    run: runPanel,
    skips: /frames|storage (full|cut)/,
    edits: { "<ref>": "example" },
  },
  "check_active.py": {
    needs: ["python3", "prlimit"],
    build: "python3 -m py_compile check_active.py snippet.py",
    checks: {
      "the page's snippet runs":
        `${HERE} python3 -c 'import snippet; snippet.start("A")'`,
      "a program can end while its request waits":
        `python3 -c 'import check_active as it; it.SERVICE += "?silent&A"; it.check_active("A")'`,
      "stop_asking waits for a thread's callback": checkStop(PYTHON),
    },
    run: inProgram(PYTHON, STORED_FILE),
    skips: /frames|storage cut/,
    edits: {
      [ADDRESS]: service.url,
      "TIMEOUT_S = 10": "TIMEOUT_S = 2",
      "request, timeout=TIMEOUT_S": "request", // So that only `results.get` ends it.
    },
  },
  "gauge.cpp": {
    needs: ["g++", "prlimit"],
    build: `mkdir -p MSFS/Legacy &&
      touch MSFS/MSFS.h MSFS/MSFS_Network.h MSFS/Legacy/gauges.h &&
      g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -fno-exceptions -fno-rtti -I. \
        -fsanitize=address,undefined ${DRIVERS}/gauge_driver.cpp`,
    run: inProgram("../a.out", "stored", "\\n"),
    skips: /; error$/m, // Its callbacks may not throw.
    edits: {
      '"\\\\work\\\\check-username-active." + PROJECT_ID': '"stored"',
      "std::chrono::steady_clock": "SimulatedClock",
      "std::time(nullptr)": "static_cast<long long>(clockS + nowS)",
      "std::uniform_real_distribution<>(0.5, 1.5)(random_)": "1",
    },
  },
  "ActivationCheck.cs": {
    needs: ["mcs", "mono", "prlimit"],
    build: `mcs -langversion:7 -warnaserror -r:System.Net.Http -out:a.exe \
        ActivationCheck.cs snippet.cs ${DRIVERS}/ActivationCheckDriver.cs`,
    checks: {
      "StopAsking waits for a thread's callback": checkStop("mono ../a.exe"),
    },
    run: inProgram("mono ../a.exe", STORED_FILE),
    skips: /frames|storage cut/,
    edits: {
      [ADDRESS]: service.url,
      "HttpMethod.Post, Service": "HttpMethod.Post, Service + Simulated.Query",
      "FromSeconds(10)": "FromSeconds(2)",
      "Timeout = Timeout,": "", // So that only `CheckActiveAsync` ends it.
      "question = CheckActive": "question = Simulated.CheckActive",
      "pause = Task.Delay": "pause = Simulated.Delay",
      "DateTimeOffset.UtcNow": "Simulated.UtcNow",
      "0.5 + random.NextDouble()": "1 + 0 * random.NextDouble()", // An unused random is a warning.
    },
  },
};

/** Plays the lines of a scenario. Returns them with what the code really did after each `->`. */
async function play(run: Client["run"], lines: string[], cwd: string) {
  const events = lines.flatMap((line) => {
    const step = line.replace(/ ->.*/, "");
    const [second, happens = ""] = step.split(/ (.*)/);
    return [`until ${second}`, `print ${step}`, ...happens.split("; ")];
  });
  const played: string[][] = [];
  for (const line of await run(events.filter(Boolean), cwd)) {
    if (/^\d/.test(line)) played.push([]); // A step begins with its second.
    const body = line.match(/^asks ({.*)/)?.[1];
    const { username, project_id } = JSON.parse(body ?? "{}");
    assert(!body || project_id === SEEDED.project_id, line);
    const did = body ? `asks ${username}` : line.replace(/: $/, ": nothing");
    played.at(-1)?.push(did);
  }
  return played.map(([step, ...calls]) =>
    [step, calls.join("; ")].filter(Boolean).join(" -> ")
  );
}

const scenarios = await readPage("supabase/clients/scenarios.txt");

for (const [file, client] of Object.entries(FILES)) {
  const { needs, build, checks = {}, run, skips, edits } = client;
  const missing = needs.filter((it) => spawnSync(it, ["--version"]).error);
  const ignore = missing.length > 0 && !Deno.env.has("ALL_CLIENTS");
  const name = `clients: ${file}${ignore ? `, left out: no ${missing}` : ""}`;
  Deno.test({ name, ignore }, async (t) => {
    let code = await readPage(`supabase/clients/${file}`);
    assertStringIncludes(code, `"${ADDRESS}${FUNCTION_URL_PATH}"`);
    for (const [shipped, tested] of Object.entries(edits)) {
      assertStringIncludes(code, shipped);
      code = code.replaceAll(shipped, tested);
    }
    const language = extname(file).slice(1);
    const snippet = await readBlock("supabase/clients/README.md", language);
    const files = { [file]: code, [`snippet${extname(file)}`]: snippet };
    await using folder = await makeTempFolder(files);
    const dir = fileURLToPath(folder.url);
    await runLine(build, { cwd: dir });
    for (const [title, line] of Object.entries(checks)) {
      const options = { cwd: dir, timeout: 60_000 };
      await t.step(title, async () => void await runLine(line, options));
    }
    for (const scenario of scenarios.split(/^## /m).slice(1)) {
      const [title = "", ...lines] = scenario.trim().split("\n");
      const fn = async () => {
        const cwd = await Deno.makeTempDir({ dir });
        assertEquals(await play(run, lines, cwd), lines);
      };
      await t.step({ name: title, ignore: skips.test(scenario), fn });
    }
  });
}
