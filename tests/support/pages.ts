import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";

/** The pages for callers, one of them for programs, and for operators: their paths in the project. */
export const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
export const OPENAPI = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
export const INCIDENTS = "supabase/incidents.md";
export const OPERATORS = ["README.md", "supabase/README.md", INCIDENTS];
export const EXISTING_TABLE = "supabase/existing-table.md";

/** Every page: those, and the ones for developers. */
export const PAGES = [
  ...OPERATORS,
  EXISTING_TABLE,
  CALLERS,
  "CONTRIBUTING.md",
  "tools/bench/README.md",
];

/** Reads a page. */
export function readPage(page: string): Promise<string> {
  return Deno.readTextFile(new URL(page, PROJECT));
}

/** Reads a file of the code for callers. */
export const readExample = (file: string) =>
  readPage(`${FUNCTION_FOLDER_PATH}examples/${file}`);

/** What ends a piece of code in a block of a language. Of others, the block is one piece. */
const ENDS: Record<string, string> = { sh: "\n", sql: "\n\n" };

/**
 * Returns the code on pages in these languages, in its order: statements of SQL, lines for a shell,
 * else whole blocks. With a heading, only the code under it.
 */
export async function codeOf(
  pages: string[],
  languages: string[],
  heading = "",
): Promise<string[]> {
  const text = (await Promise.all(pages.map(readPage))).join("\n## ");
  const under = text.split("\n## ")
    .filter((section) => !heading || section.startsWith(`${heading}\n`));
  const fence = /^ *```(\w+)\n([^]*?)^ *```/gm;
  const code = under.join("\n").matchAll(fence)
    .filter(([, language = ""]) => languages.includes(language))
    .flatMap(([, language = "", code = ""]) =>
      code.split(ENDS[language] ?? /$/)
    )
    .map((code) => code.trim()).filter((code) => code !== "");
  return [...new Set(code)];
}

/** Returns the only code on a page, or on several, with this language and text. */
export async function codeBlock(
  page: string | string[],
  language: string,
  says: string,
): Promise<string> {
  const [code, ...others] = (await codeOf([page].flat(), [language]))
    .filter((code) => code.includes(says));
  if (!code || others.length > 0) {
    throw new Error(`${page} needs one piece of ${language} with ${says}`);
  }
  return code;
}

/** The code on pages, for a test that runs all of it. */
export async function codeToRun(pages: string[], ...languages: string[]) {
  const code = await codeOf(pages, languages);
  const left = new Set(code);
  return {
    code,
    /** What has not been taken. */
    left,
    /** Takes the only piece of code with this text, to run it now, with these values in it. */
    take(text: string, values: Record<string, string> = {}): string {
      const [found, ...others] = code.filter((piece) => piece.includes(text));
      if (!found || others.length > 0) throw new Error(`not one has ${text}`);
      left.delete(found);
      return Object.entries(values)
        .reduce((piece, [old, by]) => piece.replaceAll(old, () => by), found);
    },
  };
}

/** Returns the arguments of the only command of the Supabase CLI on these pages that begins so. */
export async function cliCommand(
  command: string,
  pages = OPERATORS,
): Promise<string[]> {
  const npx = `npx supabase@${VERSIONS.supabase} `;
  const line = await codeBlock(pages, "sh", npx + command);
  // Without the file that the shell writes.
  const args = line.replace(npx, "").replace(/ > .*/, "");
  return Array.from(
    args.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain = ""]) => quoted ?? plain,
  );
}
