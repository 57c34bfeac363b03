import { assert, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import {
  FUNCTION_FOLDER_PATH,
  FUNCTION_PATH,
  SEEDED,
} from "../../tools/project.ts";
import { type Output, run } from "../../tools/command.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { codeBlock, type Page } from "./pages.ts";

/** The page for callers. */
export const CALLERS: Page = `${FUNCTION_FOLDER_PATH}README.md`;

/** Code of a page, ready to run. Disposing of it removes it. */
export interface Caller extends AsyncDisposable {
  /** The file with the stored time. */
  stored: URL;
  /** Runs the driver of the language with these arguments, which asks this service. */
  run(service: string, ...args: string[]): Promise<Output>;
}

/** The languages whose code runs here: what it is called on the page, where it goes, what runs it. */
const LANGUAGES = {
  panel: {
    fence: "js",
    file: "panel.js",
    code: panelCode,
    command: () => Promise.resolve(["node", driver("panel.mjs")]),
  },
  Python: {
    fence: "python",
    file: "check.py",
    code: () => codeBlock(CALLERS, "python", "def check_active"),
    command: async () => [await python(), driver("python.py")],
  },
  "C++": {
    fence: "cpp",
    file: "gauge.h",
    code: async () =>
      (await codeBlock(CALLERS, "cpp", "checkActive"))
        .replace("std::chrono::steady_clock", "GaugeClock")
        .replace('"\\\\work\\\\active-at.txt"', '"stored"'),
    command: compileGauge,
  },
};

/** A language whose code runs here. */
export type Language = keyof typeof LANGUAGES;

/** All of them. */
export const LANGUAGE_NAMES = Object.keys(LANGUAGES) as Language[];

/** Takes the code of a language out of the pages and gets it ready to run. */
export async function prepareCaller(language: Language): Promise<Caller> {
  const { fence, file, code, command } = LANGUAGES[language];
  const folder = await makeTempFolder();
  const source = await code();
  assertStringIncludes(source, FUNCTION_PATH);
  assertStringIncludes(source, SEEDED.project_id);
  await Deno.writeTextFile(new URL(file, folder.url), source);
  // The call stands apart from the code, and names the same user in every language.
  const call = await codeBlock(CALLERS, fence, '"CaptainKirin#0417"');
  await Deno.writeTextFile(
    new URL("call", folder.url),
    call.replace('os.environ["LOCALAPPDATA"], "My add-on"', '"."')
      .replace('"active-at.txt"', '"stored"'),
  );
  const [program = "", ...first] = await command(folder.url);
  return {
    stored: new URL("stored", folder.url),
    run: (service, ...args) =>
      run(program, [...first, ...args], {
        cwd: folder.url,
        env: { SERVICE: service + FUNCTION_PATH },
      }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** The code of the panel: both functions. */
export function panelCode(): Promise<string> {
  return codeBlock(CALLERS, "js", "function checkActive");
}

function driver(name: string): string {
  return fileURLToPath(new URL(`callers/${name}`, import.meta.url));
}

/** The command for Python 3. On Windows, `python3` opens the store. */
async function python(): Promise<string> {
  const names = Deno.build.os === "windows" ? ["python", "py"] : ["python3"];
  for (const name of names) {
    const found = await run(name, ["--version"]).catch(() => undefined);
    if (found?.success) return name;
  }
  throw new Error(`Python 3 is missing: looked for ${names.join(" and ")}`);
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
