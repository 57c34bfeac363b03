import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";

/** The pages for callers, one of them for programs, and for operators: their paths in the project. */
export const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
export const OPENAPI = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
export const OPERATORS = "supabase/README.md";
export const EXISTING_TABLE = "supabase/existing-table.md";

/** Reads a page. */
export function readPage(page: string): Promise<string> {
  return Deno.readTextFile(new URL(page, PROJECT));
}

/** Reads a file of the code for callers. */
export const readExample = (file: string) =>
  readPage(`${FUNCTION_FOLDER_PATH}examples/${file}`);

/** What `codeBlock` has returned. */
export const TAKEN = new Set<string>();

/** Returns the code on pages in a language: statements of SQL, lines for a shell, else whole blocks. */
export async function codeOf(pages: string[], language: string) {
  const fence = new RegExp("^ *```" + language + "\\n([^]*?)^ *```", "gm");
  const end = language === "sh" ? "\n" : language === "sql" ? "\n\n" : "\0";
  const text = (await Promise.all(pages.map(readPage))).join("");
  const code = text.matchAll(fence)
    .flatMap(([, code = ""]) => code.split(end))
    .map((code) => code.trim()).filter((code) => code !== "");
  return [...new Set(code)];
}

/** Returns the only code on a page, or on several, with this language and text. */
export async function codeBlock(
  page: string | string[],
  language: string,
  says: string,
): Promise<string> {
  const [code, ...others] = (await codeOf([page].flat(), language))
    .filter((code) => code.includes(says));
  if (!code || others.length > 0) {
    throw new Error(`${page} needs one piece of ${language} with ${says}`);
  }
  TAKEN.add(code);
  return code;
}

/** Returns the arguments of the only command of the Supabase CLI on these pages that begins so. */
export async function cliCommand(
  command: string,
  pages = ["README.md", OPERATORS],
): Promise<string[]> {
  const npx = `npx supabase@${VERSIONS.supabase} `;
  const line = await codeBlock(pages, "sh", npx + command);
  // Without the file that the shell writes.
  const args = line.replace(npx, "").replace(/ > .*/, "");
  return args.match(/(?<=")[^"]+|[^"\s]+/g) ?? [];
}
