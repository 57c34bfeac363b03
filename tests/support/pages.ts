/** The project's Markdown pages, and the code on them, for the tests that run it. */
import { globSync } from "node:fs";
import { PROJECT } from "../../tools/project.ts";

/** Paths of the pages, with slashes on Windows, too. */
export const PAGES = globSync("{,docs/,examples/*/,.github/}*.md", { cwd: PROJECT })
  .map((path) => path.replaceAll("\\", "/"));

/** Reads a page, or another file of the project. */
export const readPage = (page: string): Promise<string> =>
  Deno.readTextFile(new URL(page, PROJECT));

/** Returns the blocks of code in a language on a page, or under one of its headings. */
export async function readBlocks(page: string, language: string, heading = "") {
  const sections = (await readPage(page)).split(/^#+ /m);
  const text = sections.filter((section) => section.startsWith(heading)).join("\n");
  // A block in a list is indented.
  const block = new RegExp(`^( *)\`\`\`${language}\n(.*?)\n\\1\`\`\`$`, "gms");
  return Array.from(
    text.matchAll(block),
    ([, indent = "", code = ""]) =>
      code.split("\n").map((line) => line.replace(indent, "")).join("\n"),
  );
}

/**
 * Fills in the placeholders of code, such as `<project_id>`. `apiUrl` takes the place of the first
 * address of the service.
 */
export function fillIn(code: string, values: Record<string, string>, apiUrl = ""): string {
  const address = /https:..(<ref>.supabase.co|<service>)|http:..127.0.0.1:54321/;
  let filled = apiUrl ? code.replace(address, () => apiUrl) : code;
  for (const [name, value] of Object.entries(values)) {
    filled = filled.replaceAll(`<${name}>`, () => value);
  }
  return filled;
}
