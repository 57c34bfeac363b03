/** `ask.js`, `Ask.cs` and `ask.cpp`, run against a server of this machine. */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual as equal } from "node:util";
import { assert, assertEquals } from "@std/assert";
import { run } from "../../tools/command.ts";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";

/** The names that each program asks about, and the status that it prints for each: 0 for none. */
const ASKED = [
  { name: "silent", status: 0 }, // The server never responds.
  { name: "Amelia", status: 200 },
  { name: "Bessie", status: 499 },
  { name: "Charles", status: 500 },
  { name: "redirected to a 200", status: 307 },
  { name: "stalls in the body", status: 200 },
  { name: 'quoted "a\\b"', status: 200 },
  { name: "a\r\n\tb\u0001\u001f\u007f", status: 200 },
  { name: " Zoë 小雪 🛩 ", status: 200 },
];

/**
 * Each program, and a `main` that asks about each of its arguments. In C# and C++, it finally asks
 * about a name that is not Unicode, so nothing is sent. A variable has the path of the compiler.
 */
const PROGRAMS = [
  {
    file: "ask.js",
    main: "for (const name of Deno.args) console.log(await ask(name));",
    runs: [Deno.execPath(), "run", "--allow-net", "ask.js"],
  },
  {
    file: "Ask.cs",
    main: `class Program { static void Main(string[] names) {
      foreach (var name in names) System.Console.WriteLine(Activation.AskAsync(name).Result);
      System.Console.WriteLine(Activation.AskAsync("\\ud83d").Result);
    } }`,
    variable: "MCS",
    options: "-warnaserror -r:System.Net.Http.dll Ask.cs",
    runs: ["mono", "Ask.exe"],
  },
  {
    file: "ask.cpp",
    main: `#include <iostream>
      int main(int count, char** names) {
        curl_global_init(CURL_GLOBAL_DEFAULT);
        for (int n = 1; n < count; n++) std::cout << ask(names[n]) << std::endl;
        std::cout << ask("\\xff") << std::endl;
      }`,
    variable: "GXX",
    options: "-std=c++17 -Wall -Wextra -Wshadow -Werror -o ask ask.cpp -lcurl",
    runs: ["./ask"],
  },
];

for (const { file, main, variable, options, runs: [program, ...args] } of PROGRAMS) {
  const compiler = variable && Deno.env.get(variable);
  const test = compiler || !variable ? Deno.test : Deno.test.ignore;
  test(`${file}: it sends each name as it is, returns the status, follows no redirect, and waits 10 s at most`, async () => {
    let waitedMs = NaN; // How long the program waits for a response that never comes.
    await using service = await listenOnLoopback(createServer(async (request, response) => {
      const body = await json(request).catch(() => null);
      const { project_id } = SEEDED;
      const asked = ASKED.find(({ name }) => equal(body, { username: name, project_id }));
      const status = request.url === "/elsewhere" ? 200 : asked?.status ?? 400;
      if (status) response.writeHead(status, { Location: "/elsewhere" });
      if (asked?.name === "stalls in the body") return response.write("{");
      if (status) return response.end();
      const beganAt = performance.now();
      response.on("close", () => waitedMs = performance.now() - beganAt);
    }));
    await using folder = await makeTempFolder();
    const code = await readPage(`examples/add-on/${file}`);
    const ready = code.replace("https://<ref>.supabase.co", service.url);
    await Deno.writeTextFile(new URL(file, folder.url), `${ready}\n${main}`);
    if (compiler) await runLine(`"${compiler}" ${options}`, { cwd: fileURLToPath(folder.url) });
    const names = ASKED.map(({ name }) => name);
    // A program that also waited for the rest of the body would take 20 s, and is ended before.
    const signal = AbortSignal.timeout(18_000);
    const settings = { cwd: folder.url, env: { LANG: "C.UTF-8" }, signal };
    const { stdout, stderr } = await run(program!, [...args, ...names], settings);
    const statuses = ASKED.map(({ status }) => status);
    if (compiler) statuses.push(0); // Of the last name.
    assertEquals(stdout.split(/\s+/).map(Number), statuses, stderr);
    assert(9_000 < waitedMs && waitedMs < 11_000, `it waited ${waitedMs} ms`);
  });
}
