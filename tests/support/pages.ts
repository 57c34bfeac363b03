import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";

/** Paths, in the project, of the pages for callers (`OPENAPI` is for their tools) and for operators. */
export const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
export const OPENAPI = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
export const INCIDENTS = "supabase/incidents.md";
export const OPERATORS = ["README.md", "supabase/README.md", INCIDENTS];
export const EXISTING_TABLE = "supabase/existing-table.md";

/** Every page but `OPENAPI`, with those for developers. */
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

/** What separates the pieces of code in a block. In another language, the block is one piece. */
const SEPARATORS: Record<string, string> = { sh: "\n", sql: "\n\n" };

/**
 * Returns the code on pages in these languages, in the order of the pages: each statement of SQL, each line for a
 * shell, and each block of another language. With a heading, only the code under it.
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
      code.split(SEPARATORS[language] ?? /$/)
    )
    .map((code) => code.trim()).filter((code) => code !== "");
  return [...new Set(code)];
}

/** Returns the only code on a page, or on several, with this language and text. */
export async function codeBlock(
  page: string | string[],
  language: string,
  text: string,
): Promise<string> {
  const { take } = await codeToRun([page].flat(), language);
  return take(text);
}

/** Returns the code on pages, for a test that runs all of it. */
export async function codeToRun(pages: string[], ...languages: string[]) {
  const code = await codeOf(pages, languages);
  const left = new Set(code);
  return {
    code,
    /** The pieces that have not been taken. */
    left,
    /** Returns the only piece with this text, which now counts as run, with these values in it. */
    take(text: string, values: Record<string, string> = {}): string {
      const [found, ...others] = code.filter((piece) => piece.includes(text));
      if (!found || others.length > 0) {
        throw new Error(`${pages} must have one piece of code with ${text}`);
      }
      left.delete(found);
      return Object.entries(values)
        .reduce((piece, [old, by]) => piece.replaceAll(old, () => by), found);
    },
  };
}

/** Returns the arguments of the only command of the Supabase CLI on these pages that begins like this. */
export async function cliCommand(command: string, pages = OPERATORS) {
  const npx = `npx supabase@${VERSIONS.supabase} `;
  const line = await codeBlock(pages, "sh", npx + command);
  // Without the file that the shell writes.
  const args = line.replace(npx, "").replace(/ > .*/, "");
  return Array.from(
    args.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain = ""]) => quoted ?? plain,
  );
}
