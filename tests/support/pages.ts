/** The project's Markdown pages, and the code on them. */
import { globSync } from "node:fs";
import { PROJECT } from "../../tools/project.ts";

/** Paths of the pages. */
export const PAGES = globSync("{,*/,.github/}*.md", { cwd: PROJECT });

/** Reads a page, or another file of the project. */
export const readPage = (page: string): Promise<string> =>
  Deno.readTextFile(new URL(page, PROJECT));

/** Returns the blocks of code in a language on a page, or under one of its headings. */
export async function readBlocks(page: string, language: string, heading = "") {
  const sections = (await readPage(page)).split(/^#+ /m);
  const text = sections.filter((it) => it.startsWith(heading)).join("\n");
  const block = new RegExp(`^\`\`\`${language}\n(.*?)\n\`\`\`$`, "gms");
  return Array.from(text.matchAll(block), ([, code = ""]) => code);
}
