import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";

/** The page for callers, and the two for operators. */
export const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
export const OPERATORS = "supabase/README.md";
export const EXISTING_TABLE = "supabase/existing-table.md";

/** The pages for people, by their path in the project. */
export const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  OPERATORS,
  EXISTING_TABLE,
  CALLERS,
  "tools/bench/README.md",
];

/** Reads a page. */
export function readPage(page: string): Promise<string> {
  return Deno.readTextFile(new URL(page, PROJECT));
}

/**
 * Returns the only code block on a page with the given language and text.
 *
 * @param page The page.
 * @param language The language after the opening fence.
 * @param says Text that no other block of that language contains.
 * @throws {Error} When there is no such block, or more than one.
 */
export async function codeBlock(
  page: string,
  language: string,
  says: string,
): Promise<string> {
  const fence = new RegExp("^```" + language + "\\n([^]*?)^```", "gm");
  const [block, ...others] = (await readPage(page)).matchAll(fence)
    .map(([, code = ""]) => code).filter((code) => code.includes(says));
  if (block && others.length === 0) return block;
  throw new Error(`${page} needs one ${language} block with ${says}`);
}

/**
 * Takes a command of the Supabase CLI out of a page, so that a test runs what the page says.
 *
 * @param command How the command begins, such as `db push`.
 * @param page The page: the one for operators, when not given.
 * @returns Its arguments, without `--remote`: a test has a target of its own.
 */
export async function cliCommand(
  command: string,
  page = OPERATORS,
): Promise<string[]> {
  const line = (await readPage(page)).split("\n")
    .find((line) => line.startsWith(`supabase ${command}`));
  if (!line) throw new Error(`${page} gives no command supabase ${command}`);
  return line.split(" ").slice(1).filter((arg) => arg !== "--remote");
}
