/** The Supabase CLI, run as `docs/operate.md` says. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { PROJECT, SEEDED } from "../../tools/project.ts";
import { readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";

/** Variables with which a command would pass that asks a question where a person runs it. */
const { CI: _ci, SUPABASE_YES: _yes, npm_config_yes: _npx, ...ENV } = process.env;

/**
 * Runs the page's command that has this text, on another remote: the URL of a database, or a project.
 * `file` is the path that it gets for `../<file>`. Returns what the command prints. Fails if the
 * command fails, or if it warns, as of `supabase/config.toml`.
 */
export async function runCommand(text: string, remote: string, { file = "", env = {} } = {}) {
  const lines = (await readPage("docs/operate.md")).split("\n");
  const line = lines.find((line) => /^ *npx -y supabase@/.test(line) && line.includes(text));
  assert(line, `docs/operate.md has no command with "${text}"`);
  const filledIn = line.trim().replace("--remote=<ref>", `--remote="${remote}"`)
    .replace("<project_id>", SEEDED.project_id).replace("../<file>", () => file);
  const output = await runLine(filledIn, { cwd: PROJECT, env: { ...ENV, ...env } });
  assert(!/^WARN/im.test(output.stderr), output.stderr);
  return output.stdout;
}

/**
 * Runs the page's deployment of the function on a stand-in for the platform, and writes the files
 * that it uploads into a folder. Returns their names, and the metadata.
 */
export async function uploadFunction(folder: URL) {
  const forms: FormData[] = [];
  await using api = serveOnLoopback(async (request) => {
    if (request.method === "GET") return Response.json({});
    forms.push(await request.formData());
    const deployed = { id: "1", slug: "", name: "", status: "ACTIVE" };
    return Response.json({ ...deployed, version: 1 }, { status: 201 });
  });
  const profile = new URL("profile.yaml", folder);
  const text = `{ name: stand-in, project_host: supabase.co,
    api_url: "${api.url}", dashboard_url: "${api.url}" }`;
  await Deno.writeTextFile(profile, text);
  const env = {
    SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}`,
    SUPABASE_PROFILE: fileURLToPath(profile),
  };
  await runCommand("functions deploy", "a".repeat(20), { env });
  const [form, ...others] = forms;
  assert(form && others.length === 0, `${forms.length} uploads, not one`);
  const files = form.getAll("file").filter((file) => file instanceof File);
  for (const file of files) {
    const url = new URL(file.name, folder);
    await Deno.mkdir(new URL(".", url), { recursive: true });
    await Deno.writeFile(url, file.stream());
  }
  const metadata = JSON.parse(`${form.get("metadata")}`);
  return { names: files.map(({ name }) => name), metadata };
}
