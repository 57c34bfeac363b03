import { assertNotMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { printed, supabase } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

const REF = "abcdefghijklmnopqrst";

// A hosted project whose settings differ from the CLI's in all that `supabase config push` can change.
const HOSTED_CONFIG = {
  api: { enabled: true, schemas: ["public", "operators_own"], max_rows: 500 },
  auth: { enabled: true, site_url: "https://a.example", jwt_expiry: 777 },
  database: { major_version: 17, ssl_enforcement: { enabled: true } },
  pooler: { enabled: true, pool_mode: "session", default_pool_size: 33 },
  realtime: { enabled: true },
  storage: { enabled: true, file_size_limit: 104_857_600 },
};

const NO_ADDONS = { selected_addons: [], available_addons: [] };
const DEPLOYED = { id: "1", slug: "", name: "", status: "ACTIVE", version: 1 };

/** Bodies of responses from which the CLI reads something. The others may be empty. */
const RESPONSES: Record<string, unknown> = {
  [`/v1/projects/${REF}/functions/deploy`]: DEPLOYED,
  [`/v1/projects/${REF}/billing/addons`]: NO_ADDONS,
  [`/v2/projects/${REF}/config`]: {
    data: { id: REF, type: "project_config", attributes: HOSTED_CONFIG },
  },
};

/**
 * Runs a command of the Supabase CLI against a stand-in for the platform, which has one project.
 * Fails if the command fails or prints a warning.
 *
 * @returns What it printed to standard error, and every request that is not a GET.
 */
export async function runOnPlatform(command: string[]) {
  const writes: Request[] = [];
  await using api = serveOnLoopback(async (request) => {
    const { method, url, headers } = request;
    const response = RESPONSES[new URL(url).pathname] ?? {};
    if (method === "GET") return Response.json(response);
    // The body cannot be read any more after the response.
    const body = await request.bytes();
    writes.push(new Request(url, { method, headers, body }));
    const status = method === "DELETE" ? 200 : 201;
    return Response.json(response, { status });
  });
  const names = "name: stand-in\nproject_host: supabase.co\n";
  const urls = `api_url: ${api.url}\ndashboard_url: ${api.url}\n`;
  await using folder = await makeTempFolder({ "profile.yaml": names + urls });
  const profile = fileURLToPath(new URL("profile.yaml", folder.url));
  const target = [`--remote=${REF}`, `--profile=${profile}`];
  const env = { SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}` };
  const output = await supabase([...command, ...target, "--yes"], { env });
  printed(output);
  assertNotMatch(output.stderr, /^WARN/im, "fix supabase/config.toml");
  return { stderr: output.stderr, writes };
}
