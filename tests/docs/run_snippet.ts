/** Runs the code on the operators' pages: on the local stack, and on stand-ins for the platform. */
import { assertEquals } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { runOnPlatform } from "../support/management_api.ts";
import { cliArgs, cliCommand } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";

const stack = await startStack();
Deno.test.afterAll(() => stack[Symbol.asyncDispose]());
export const { API_URL, SECRET_KEY } = stack.service;

const requestLine = ({ method, url }: Request) =>
  decodeURIComponent(`${url} ${method} `).replaceAll("+", " ");

/** What `curl` asks. Echoes the request, or only the token if it is a wrong one. */
const managementApi = serveOnLoopback(async (request) => {
  const token = request.headers.get("Authorization");
  if (token !== "Bearer accesstoken") return new Response(token);
  return new Response(requestLine(request) + await request.text());
});
Deno.test.afterAll(() => managementApi[Symbol.asyncDispose]());

const EXPORT = await cliCommand("db query"); // The arguments of the first one.

/** The kinds of snippets: how each is run, and what its output is. The first that fits counts. */
const KINDS: [
  pattern: RegExp,
  run: (code: string, cwd: URL) => Promise<string>,
][] = [
  [/^npx .* > /, runExport], // The rows, which it writes to the file.
  [/^npx /, runCli], // The requests that the CLI sends.
  [/^git diff /, runDiff], // What differs.
  [/^(curl|node) /, runInShell], // What it prints.
  [/;$/, runSql], // The rows, as JSON.
];

/** Runs a snippet in a folder. Returns its output. Without a value, `<old ref>` is `oldref`. */
export async function runSnippet(
  code: string,
  cwd: URL,
  values: Record<string, string>,
): Promise<string> {
  const [, run] = KINDS.find(([pattern]) => pattern.test(code))!;
  const isSql = run === runSql;
  const filled = code.replaceAll("http://127.0.0.1:54321", API_URL)
    .replaceAll(/https:\/\/<(new )?ref>\.supabase\.co/g, API_URL)
    .replaceAll("https://api.supabase.com", managementApi.url)
    .replaceAll(/<(new )?secret key>/g, SECRET_KEY)
    .replaceAll("../", "./") // Exports are beside the clone; here, in the folder.
    .replace(/<([a-z ]+)>/g, (_, it) => {
      const value = values[it] ?? it.replaceAll(" ", "");
      return isSql ? value.replaceAll("'", "''") : value;
    });
  return await run(filled, cwd);
}

/** Runs only its SQL: the command has to equal the export that tests/deploy runs with the CLI. */
async function runExport(line: string, cwd: URL) {
  const [command = "", file = ""] = line.split(" > ");
  const args = cliArgs(command.replace(/--remote=\w+/, "--remote"));
  assertEquals(args, EXPORT);
  const rows = await stack.exec(args.at(-1)!);
  await Deno.writeTextFile(new URL(file, cwd), JSON.stringify(rows, null, 2));
  return JSON.stringify(rows);
}

async function runCli(line: string) {
  const requests = await runOnPlatform(cliArgs(line));
  return requests.map((sent) => requestLine(sent)).join();
}

/** Git ends with code 1 if the files differ. */
function runDiff(line: string, cwd: URL) {
  return runInShell(line, cwd).catch((error) => {
    if (error.code !== 1) throw error;
    return String(error.stdout);
  });
}

async function runInShell(line: string, cwd: URL) {
  return (await runLine(line, { cwd })).stdout;
}

async function runSql(sql: string) {
  return JSON.stringify(await stack.exec(sql));
}
