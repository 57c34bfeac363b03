/** The commands on the operators' pages, run as they stand there. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { fillIn, readBlocks } from "./pages.ts";
import { runLine } from "./processes.ts";

/** Variables with which a command would pass that asks a question where a person runs it. */
const { CI: _ci, SUPABASE_YES: _yes, npm_config_yes: _npx, ...ENV } = process.env;

/** Returns the command of this form on `docs/operate.md`. */
export async function readCommand(form: RegExp): Promise<string> {
  const blocks = await readBlocks("docs/operate.md", "sh");
  const lines = blocks.join("\n").split("\n").filter((line) => form.test(line));
  assert(lines.length === 1, `docs/operate.md has ${lines.length} commands ${form}`);
  return lines[0]!;
}

/**
 * Runs the command of this form on a remote: the URL of a database, or a project. Returns what the
 * command prints. Fails if the command fails, or if it warns, as of `supabase/config.toml`.
 */
export async function runCommand(form: RegExp, ref: string, env: Record<string, string> = {}) {
  const line = fillIn(await readCommand(form), { ref });
  const output = await runLine(line, { cwd: PROJECT, env: { ...ENV, ...env } });
  assert(!/^WARN/im.test(output.stderr), output.stderr);
  return output.stdout;
}

/**
 * Runs the page's deployment of the function on a stand-in for the platform, and writes the files
 * that it uploads into a folder. Returns the one request that changes something, such as
 * `POST /v1/projects/<ref>/…`, the files' names, and the metadata.
 */
export async function uploadFunction(folder: URL) {
  await using settings = await makeTempFolder();
  const ref = "a".repeat(20);
  const changes: { request: string; form: FormData }[] = [];
  await using api = serveOnLoopback(async (request) => {
    const { method, url } = request;
    if (method === "GET") return Response.json({});
    const path = new URL(url).pathname.replace(ref, "<ref>");
    changes.push({ request: `${method} ${path}`, form: await request.formData() });
    const deployed = { id: "1", slug: "", name: "", status: "ACTIVE", version: 1 };
    return Response.json(deployed, { status: 201 });
  });
  const profile = new URL("profile.yaml", settings.url);
  await Deno.writeTextFile(
    profile,
    `{ name: stand-in, project_host: supabase.co, api_url: "${api.url}", dashboard_url: "${api.url}" }`,
  );
  const env = {
    SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}`,
    SUPABASE_PROFILE: fileURLToPath(profile),
  };
  await runCommand(/ functions deploy /, ref, env);
  const [change, ...others] = changes;
  assert(change && others.length === 0, "The deployment is not one request.");
  const files = change.form.getAll("file").filter((file) => file instanceof File);
  for (const file of files) {
    const url = new URL(file.name, folder);
    await Deno.mkdir(new URL(".", url), { recursive: true });
    await Deno.writeFile(url, file.stream());
  }
  const metadata = JSON.parse(`${change.form.get("metadata")}`);
  return { request: change.request, names: files.map(({ name }) => name), metadata };
}
