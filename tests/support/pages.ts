/** The pages, and the code on them. */
import { marked, type Tokens } from "marked";
import { globSync } from "node:fs";
import { PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";

/** The pages with code for operators, in their order. */
const OPERATORS = ["README.md", "supabase/README.md"];
export const EXISTING_TABLE = "supabase/existing-table.md";

/** The project's Markdown pages. */
export const PAGES = globSync("{,.github/,clients/,supabase/**/}*.md", {
  cwd: PROJECT,
});

/** Reads a page, or another file of the project. */
export const readPage = (page: string): Promise<string> =>
  Deno.readTextFile(new URL(page, PROJECT));

/** What separates the snippets in a block, by the block's language. */
const SEPARATORS: Record<string, string> = { sh: "\n", sql: "\n\n" };
/** A command or a statement in a sentence. */
const INLINE = /^(npx|curl|git|node) |;$/;

/**
 * Returns the commands and the SQL on these pages, in order, with their heading, and `words`: the
 * text before each, since the last snippet or the beginning of its paragraph or list item.
 */
export async function readSnippets(pages = OPERATORS) {
  const snippets: { heading: string; words: string; code: string }[] = [];
  let [heading, words] = ["", ""];
  for (const page of pages) {
    marked.walkTokens(marked.lexer(await readPage(page)), (token) => {
      const { type, text = "", lang, tokens } = token as Tokens.Generic;
      if (type === "heading") heading = text;
      if (/heading|paragraph|list_item/.test(type)) words = "";
      const isBlock = type === "code" && lang in SEPARATORS;
      if (isBlock || (type === "codespan" && INLINE.test(text))) {
        const codes = isBlock ? text.split(SEPARATORS[lang]) : [text];
        for (const code of codes) snippets.push({ heading, words, code });
        words = "";
      } else if (!tokens) words += text; // Only leaves: marked repeats their text in parents.
    });
  }
  return snippets;
}

/** Returns the blocks of code in a language on a page. */
export async function readBlocks(page: string, language: string) {
  const blocks = (await readPage(page)).matchAll(/^```(\w*)\n(.*?)\n```$/gms);
  return Array.from(blocks, ([, found, code = ""]) => ({ found, code }))
    .filter(({ found }) => found === language).map(({ code }) => code);
}

/** Returns the first command or statement on these pages that has this text. */
export async function readSnippet(text: string, pages = OPERATORS) {
  const snippets = await readSnippets(pages);
  const found = snippets.find(({ code }) => code.includes(text));
  if (!found) throw new Error(`${pages} have no ${text}`);
  return found.code;
}

/** How the CLI's commands begin on the pages. */
export const CLI = `npx supabase@${VERSIONS.supabase} `;

/** Returns the arguments of the CLI's command on these pages that begins with this text. */
export const cliCommand = async (command: string, pages = OPERATORS) =>
  cliArgs(await readSnippet(CLI + command, pages));

/** Returns what follows `CLI` in a line, as the shell passes it, without a redirection. */
export const cliArgs = (line: string): string[] =>
  [...line.replace(CLI, "").replace(/ > .*/, "").matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, plain = ""]) => quoted ?? plain);
