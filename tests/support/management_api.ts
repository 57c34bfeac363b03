import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { supabase } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/** What a POST, PATCH or DELETE gets. A GET gets `{}`, which is enough for the CLI. */
const CHANGED = { id: "1", slug: "", name: "", status: "ACTIVE", version: 1 };

const REMOTE = "--remote=abcdefghijklmnopqrst"; // The one project of the stand-in.

/**
 * Runs a command of the Supabase CLI against a stand-in for the platform, which has one project.
 * Fails if the command fails or prints a warning.
 *
 * @returns The requests that the command sent.
 */
export async function runOnPlatform(command: string[]) {
  const requests: Request[] = [];
  await using api = serveOnLoopback(async (request) => {
    const { method, url, headers } = request;
    // The body cannot be read any more after the response.
    const body = method === "GET" ? null : await request.bytes();
    requests.push(new Request(url, { method, headers, body }));
    if (method === "GET") return Response.json({});
    const status = method === "DELETE" ? 200 : 201;
    return Response.json(CHANGED, { status });
  });
  await using folder = await makeTempFolder({
    "profile.yaml": `{ name: stand-in, project_host: supabase.co,
      api_url: "${api.url}", dashboard_url: "${api.url}" }`,
  });
  const profile = fileURLToPath(new URL("profile.yaml", folder.url));
  const env = { SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}` };
  // On the pages, `functions` takes the linked project. None is linked here.
  const linked = command[0] === "functions" ? [REMOTE] : [];
  const args = command.map((arg) => arg === "--remote" ? REMOTE : arg)
    .concat(linked, `--profile=${profile}`, "--yes");
  const { code, stderr } = await supabase(args, PROJECT, env);
  // The CLI warns if it does not like `supabase/config.toml`.
  assert(code === 0 && !/^WARN/im.test(stderr), stderr);
  return requests;
}
