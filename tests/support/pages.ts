/** The project's Markdown pages, and the code on them. */
import { globSync } from "node:fs";
import { PROJECT } from "../../tools/project.ts";

/** Paths of the pages. */
export const PAGES = globSync("{,.github/,clients/,docs/}*.md", {
  cwd: PROJECT,
});

/** Reads a page, or another file of the project. */
export const readPage = (page: string): Promise<string> =>
  Deno.readTextFile(new URL(page, PROJECT));

/** Returns the blocks of code in a language on a page, or under one of its headings. */
export async function readBlocks(page: string, language: string, heading = "") {
  const sections = (await readPage(page)).split(/^#+ /m);
  const text = sections.filter((it) => it.startsWith(heading)).join("\n");
  const blocks = text.matchAll(/^```(\w*)\n(.*?)\n```$/gms);
  return Array.from(blocks, ([, found, code = ""]) => ({ found, code }))
    .filter(({ found }) => found === language).map(({ code }) => code);
}

/** Returns the arguments of the first command of the Supabase CLI on a page that begins like this. */
export async function readCommand(page: string, command: string) {
  const lines = (await readBlocks(page, "sh")).join("\n").split("\n");
  const line = lines.find((it) =>
    it.split(/supabase@\S+ /)[1]?.startsWith(command)
  );
  const [, args = ""] = line?.split(/supabase@\S+ | > /) ?? [];
  return Array.from(
    args.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain = ""]) => quoted ?? plain,
  );
}
