import { PROJECT } from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";

/** Paths of pages. `OPERATORS` lacks `EXISTING_TABLE`, which has a test of its own. */
export const CALLER_PAGE = "supabase/clients/README.md";
export const OPENAPI = "supabase/clients/openapi.yaml";
export const INCIDENTS = "supabase/incidents.md";
export const OPERATORS = ["README.md", "supabase/README.md", INCIDENTS];
export const EXISTING_TABLE = "supabase/existing-table.md";

/** Every Markdown page but SECURITY.md. */
export const PAGES = [
  ...OPERATORS,
  EXISTING_TABLE,
  CALLER_PAGE,
  "CONTRIBUTING.md",
  "tools/bench/README.md",
];

/** How each line with a command of the Supabase CLI begins. */
const CLI = `npx supabase@${VERSIONS.supabase} `;

/** Reads a page. */
export function readPage(page: string): Promise<string> {
  return Deno.readTextFile(new URL(page, PROJECT));
}

/** What separates snippets in a block, for each language that tests run. A block of js is one. */
const SEPARATORS: Record<string, string> = { sh: "\n", sql: "\n\n", js: "```" };

/**
 * Returns the snippets on pages, in their order: each statement of SQL, each line for a shell, each
 * block of JavaScript. With a heading, only those under it.
 */
export async function readSnippets(pages: string[], heading = "") {
  const sections = (await Promise.all(pages.map(readPage)))
    .flatMap((page) => page.split("\n## "))
    .filter((section) => !heading || section.startsWith(`${heading}\n`));
  const blocks = sections.join("\n").matchAll(/^ *```(\w+)\n([^]*?)^ *```/gm);
  const all = blocks.flatMap(([, language = "", code = ""]) => {
    const separator = SEPARATORS[language];
    return separator ? code.split(separator) : [];
  }).map((snippet) => snippet.trim()).filter((snippet) => snippet !== "");
  const snippets = [...new Set(all)];
  const left = new Set(snippets);
  return {
    snippets,
    /** Those that have not been taken. */
    left,
    /** Takes the only snippet with this text, and returns it with these values put in. */
    take(text: string, values: Record<string, string> = {}): string {
      const [found, ...others] = snippets.filter((it) => it.includes(text));
      if (!found || others.length > 0) {
        throw new Error(`${pages} must have one snippet with ${text}`);
      }
      left.delete(found);
      return Object.entries(values)
        .reduce((it, [old, by]) => it.replaceAll(old, () => by), found);
    },
  };
}

/** Returns the only snippet on these pages with this text. */
export async function readSnippet(pages: string[], text: string) {
  return (await readSnippets(pages)).take(text);
}

/** Returns the arguments of the CLI's command on these pages that begins with this text. */
export async function cliCommand(command: string, pages = OPERATORS) {
  return cliArgs(await readSnippet(pages, CLI + command));
}

/** Returns the arguments of a line with a command of the Supabase CLI, as the shell passes them. */
export function cliArgs(line: string): string[] {
  // Without a redirection to a file.
  const args = line.replace(CLI, "").replace(/ > .*/, "");
  return Array.from(
    args.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain = ""]) => quoted ?? plain,
  );
}
