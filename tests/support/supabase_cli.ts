/** The Supabase CLI, run as `docs/operate.md` says. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { PROJECT, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readPage } from "./pages.ts";
import { runLine } from "./processes.ts";

/** Variables with which a command would pass that asks a question where a person runs it. */
const { CI: _ci, SUPABASE_YES: _yes, npm_config_yes: _npx, ...ENV } = process.env;

/**
 * Runs the page's command that has this text, on another remote: the URL of a database, or a project.
 * `file` is the path that it gets for `../<file>`. Returns what the command prints. Fails if the
 * command fails, or if it warns, as of `supabase/config.toml`.
 */
export async function runCommand(text: string, remote: string, { file = "", env = {} } = {}) {
  const lines = (await readPage("docs/operate.md")).split("\n").map((line) => line.trim());
  // The page has some commands more than once.
  const found = lines.filter((line) => line.startsWith("npx ") && line.includes(text));
  const [line, ...others] = new Set(found);
  assert(line, `docs/operate.md has no command with "${text}"`);
  assert(others.length === 0, `docs/operate.md has different commands with "${text}"`);
  const filledIn = line.replace("--remote=<ref>", `--remote="${remote}"`)
    .replace("<project_id>", SEEDED.project_id).replace("../<file>", () => file);
  const output = await runLine(filledIn, { cwd: PROJECT, env: { ...ENV, ...env } });
  assert(!/^WARN/im.test(output.stderr), output.stderr);
  return output.stdout;
}

/**
 * Runs the page's command that has this text on a stand-in for the platform. Returns the one request
 * that changes something there, such as `DELETE /v1/projects/…`, and its form.
 */
export async function runOnPlatform(text: string) {
  await using folder = await makeTempFolder();
  const ref = "a".repeat(20);
  const changes: { request: string; form: FormData }[] = [];
  await using api = serveOnLoopback(async (request) => {
    const { method, url } = request;
    if (method === "GET") return Response.json({});
    const form = method === "POST" ? await request.formData() : new FormData();
    changes.push({ request: `${method} ${new URL(url).pathname.replace(ref, "<ref>")}`, form });
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
  await runCommand(text, ref, { env });
  const [change, ...others] = changes;
  assert(change && others.length === 0, `${changes.length} changes, not one`);
  return change;
}

/**
 * Runs the page's deployment of the function, and writes the files that it uploads into a folder.
 * Returns their names, and the metadata.
 */
export async function uploadFunction(folder: URL) {
  const { form } = await runOnPlatform("functions deploy");
  const files = form.getAll("file").filter((file) => file instanceof File);
  for (const file of files) {
    const url = new URL(file.name, folder);
    await Deno.mkdir(new URL(".", url), { recursive: true });
    await Deno.writeFile(url, file.stream());
  }
  const metadata = JSON.parse(`${form.get("metadata")}`);
  return { names: files.map(({ name }) => name), metadata };
}
