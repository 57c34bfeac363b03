import { assert, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { run } from "../../tools/command.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { CALLERS, codeBlock } from "../support/pages.ts";

/** Python 3. On Windows, `python3` opens the store. */
const PYTHON = Deno.build.os === "windows" ? "python" : "python3";

/** Languages whose code runs here: what it has in it, where it goes, and what runs its driver. */
export const LANGUAGES = {
  panel: {
    fence: "js",
    says: "function checkActive",
    file: "panel.js",
    command: () => ["node", driver("panel.mjs")],
  },
  Python: {
    fence: "python",
    says: "def check_active",
    file: "check.py",
    command: () => [PYTHON, driver("python.py")],
  },
  "C++": {
    fence: "cpp",
    says: "Share checkActive",
    file: "gauge.h",
    command: compileGauge,
  },
};

export type Language = keyof typeof LANGUAGES;

/** Takes the code of a language out of the page. */
export async function codeOf(language: Language): Promise<string> {
  const { fence, says } = LANGUAGES[language];
  const code = await codeBlock(CALLERS, fence, says);
  assertStringIncludes(code, FUNCTION_PATH);
  assertStringIncludes(code, SEEDED.project_id);
  return code;
}

/** Gets the code of a language ready to run. Disposing of it removes it. */
export async function prepareCaller(language: Language) {
  const { fence, file, command } = LANGUAGES[language];
  const folder = await makeTempFolder();
  const write = (name: string, code: string) =>
    Deno.writeTextFile(new URL(name, folder.url), code);
  // The gauge's clock and its folder are the simulator's.
  const code = (await codeOf(language))
    .replace("std::chrono::steady_clock", "GaugeClock")
    .replace("\\\\work\\\\", "");
  await write(file, code);
  // The call stands apart from the code, and names the same user in every language.
  const call = await codeBlock(CALLERS, fence, `"${SEEDED.username}"`);
  await write(
    "call",
    call.replace('os.environ["LOCALAPPDATA"], "My add-on"', '"."'),
  );
  const [program = "", ...first] = await command(folder.url);
  return {
    ...folder,
    /** The file with the stored time. */
    stored: new URL("active-at.txt", folder.url),
    /** Runs the driver of the language, which asks this service. Gives the lines that it said. */
    async run(service: string, ...args: string[]) {
      const { stdout, stderr } = await run(program, [...first, ...args], {
        cwd: folder.url,
        env: { SERVICE: service + FUNCTION_PATH },
      });
      return { said: stdout.split(/\r?\n/), stderr };
    },
  };
}

function driver(name: string): string {
  return fileURLToPath(new URL(`callers/${name}`, import.meta.url));
}

async function compileGauge(folder: URL): Promise<string[]> {
  const { success, stderr } = await run("g++", [
    ..."-std=c++17 -Wall -Werror -o gauge -I.".split(" "),
    `-I${driver("")}`,
    driver("simulator.cpp"),
  ], { cwd: folder });
  assert(success, stderr);
  return [fileURLToPath(new URL("gauge", folder))];
}
