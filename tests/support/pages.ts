import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";

/** The page for callers, and the two for operators, by their path in the project. */
export const CALLERS = `${FUNCTION_FOLDER_PATH}README.md`;
export const OPERATORS = "supabase/README.md";
export const EXISTING_TABLE = "supabase/existing-table.md";

/** Reads a page. */
export function readPage(page: string): Promise<string> {
  return Deno.readTextFile(new URL(page, PROJECT));
}

/** Returns the only code block on a page with this language and text. */
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
 * Returns the arguments of the command of the Supabase CLI on a page that begins so, such as
 * `db push`. Leaves `--remote` out: a test has a target of its own.
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
