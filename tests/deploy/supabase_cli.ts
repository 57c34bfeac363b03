/** The Supabase CLI, run as the pages say. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { PROJECT } from "../../tools/project.ts";
import { readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";

/**
 * Runs a page's line with this command on another remote: the URL of a database, or a project.
 * Returns what it prints. Fails if it fails, or if it warns, as of `supabase/config.toml`.
 */
export async function runCommand(
  page: string,
  command: string,
  remote: string,
  { project = PROJECT, env = {} } = {},
) {
  const lines = (await readPage(page)).split("\n");
  const line = lines.find((line) => line.includes(` ${command} `));
  assert(line, `${page} has no line with "${command}"`);
  const here = line.replaceAll(/ --remote\S*| > .*/g, "");
  const output = await runLine(`${here} --remote="${remote}"`, {
    cwd: project,
    env: { ...process.env, SUPABASE_YES: "true", ...env },
  });
  assert(!/^WARN/im.test(output.stderr), output.stderr);
  return output.stdout;
}

/**
 * Runs a page's deployment of a function on a stand-in for the platform, and writes the files that it
 * uploads into a folder. Returns their names, and the metadata.
 */
export async function uploadFunction(
  folder: URL,
  { page = "docs/deploy.md", name = "check-username-active", project = PROJECT } = {},
) {
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
  const command = `functions deploy ${name}`;
  await runCommand(page, command, "a".repeat(20), { project, env });
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
