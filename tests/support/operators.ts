/** What operators do: the commands on their two pages, run in a folder such as theirs. */
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { LOCAL_SERVICE, PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { fillIn, readBlocks } from "./pages.ts";
import { runLine } from "./processes.ts";

/** Variables with which a command would pass that asks a question where a person runs it. */
const { CI: _ci, SUPABASE_YES: _yes, npm_config_yes: _npx, ...ENV } = process.env;

export const OPERATORS_PAGES = ["docs/operate.md", "docs/incidents.md"];

/** Returns the operators' command of this form, which may stand on their pages more than once. */
export async function readCommand(form: RegExp): Promise<string> {
  const blocks = await Promise.all(OPERATORS_PAGES.map((page) => readBlocks(page, "sh")));
  const lines = blocks.flat().join("\n").split("\n").filter((line) => form.test(line));
  const [line, ...others] = new Set(lines);
  assert(line, `the operators' pages have no command ${form}`);
  assert(others.length === 0, `the operators' pages have different commands ${form}`);
  return line;
}

/**
 * Makes a folder in which the commands of an operator run, and above it, for `../key.txt` and the
 * others, a folder with the secret key.
 */
export async function makeOperatorsFolder(secretKey = LOCAL_SERVICE.SECRET_KEY) {
  const { url: above, ...folder } = await makeTempFolder();
  const cwd = new URL("repository/", above);
  await Deno.mkdir(cwd);
  const path = (name: string) => fileURLToPath(new URL(name, above));
  const write = (name: string, content: string | Uint8Array) => writeFile(path(name), content);
  await write("key.txt", `apikey: ${secretKey}\r\n`); // As editors of Windows end a line.
  return { cwd, path, write, read: (name: string) => Deno.readTextFile(path(name)), ...folder };
}

/** The page's deployment of the function, without a checkout before it. */
const DEPLOY = /^npx .* functions deploy/;

interface Options {
  /** The folder in which it runs: the project by default. */
  cwd?: URL;
  /** Values of the command's placeholders, beside `<ref>`. */
  values?: Record<string, string>;
  env?: Record<string, string>;
}

/**
 * Runs the operators' command of this form, on a remote: the URL of a database, or a project.
 * Returns what the command prints. Fails if the command fails, or if it warns, as of
 * `supabase/config.toml`.
 */
export async function runCommand(form: RegExp, ref: string, options: Options = {}) {
  const { cwd = PROJECT, values, env } = options;
  const line = fillIn(await readCommand(form), { ref, ...values });
  const output = await runLine(line, { cwd, env: { ...ENV, ...env } });
  assert(!/^WARN/im.test(output.stderr), output.stderr);
  return output.stdout;
}

/**
 * Runs the operators' command of this form on a stand-in for the platform. Returns the requests
 * that change something there, such as `DELETE /v1/projects/…`, with their forms and files; and the
 * error with which the command failed, or "".
 */
export async function runOnPlatform(form: RegExp, options: Options = {}) {
  await using folder = await makeTempFolder();
  const ref = "a".repeat(20);
  const changes: { request: string; form: FormData; files: File[] }[] = [];
  await using api = serveOnLoopback(async (request) => {
    const { method, url } = request;
    if (method === "GET") return Response.json({});
    const form = method === "POST" ? await request.formData() : new FormData();
    const path = new URL(url).pathname.replace(ref, "<ref>");
    const files = form.getAll("file").filter((file) => file instanceof File);
    changes.push({ request: `${method} ${path}`, form, files });
    if (method === "DELETE") return new Response();
    const deployed = { id: "1", slug: "", name: "", status: "ACTIVE" };
    return Response.json({ ...deployed, version: 1 }, { status: 201 });
  });
  const profile = new URL("profile.yaml", folder.url);
  const settings = `{ name: stand-in, project_host: supabase.co,
    api_url: "${api.url}", dashboard_url: "${api.url}" }`;
  await Deno.writeTextFile(profile, settings);
  const env = {
    SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}`,
    SUPABASE_PROFILE: fileURLToPath(profile),
  };
  const error = await runCommand(form, ref, { env, ...options }).then(() => "", String);
  return { changes, error };
}

/**
 * Runs the page's deployment of the function, and writes the files that it uploads into a folder.
 * Returns the one request that changes something, the files' names, and the metadata.
 */
export async function uploadFunction(folder: URL) {
  const { changes: [change, ...others], error } = await runOnPlatform(DEPLOY);
  assert(change && others.length === 0, error || "It changes more than the function.");
  const { request, form, files } = change;
  for (const file of files) {
    const url = new URL(file.name, folder);
    await Deno.mkdir(new URL(".", url), { recursive: true });
    await Deno.writeFile(url, file.stream());
  }
  const metadata = JSON.parse(`${form.get("metadata")}`);
  return { request, names: files.map(({ name }) => name), metadata };
}
