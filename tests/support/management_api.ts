import { assertEquals, assertNotMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { supabase } from "../../tools/command.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

const REF = "abcdefghijklmnopqrst";

// A hosted project that has decided about everything that `supabase config push` could change.
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

/** What the CLI reads of the platform's responses. The rest may be empty. */
const RESPONSES: Record<string, unknown> = {
  [`/v1/projects/${REF}/functions/deploy`]: DEPLOYED,
  [`/v1/projects/${REF}/billing/addons`]: NO_ADDONS,
  [`/v2/projects/${REF}/config`]: {
    data: { id: REF, type: "project_config", attributes: HOSTED_CONFIG },
  },
};

/**
 * Runs a command of the Supabase CLI on a stand-in for the platform, with one project. Fails if the
 * command fails or prints a warning.
 *
 * @returns What it printed, and each request that would have changed something.
 */
export async function runOnPlatform(command: string[]) {
  const writes: Request[] = [];
  await using api = serveOnLoopback(async (request) => {
    const { method, url, headers } = request;
    const response = RESPONSES[new URL(url).pathname] ?? {};
    if (method === "GET") return Response.json(response);
    // Read now: the body is gone once there is a response.
    const body = await request.bytes();
    writes.push(new Request(url, { method, headers, body }));
    return Response.json(response, { status: 201 });
  });
  await using folder = await makeTempFolder();
  const profile = new URL("profile.yaml", folder.url);
  const names = "name: stand-in\nproject_host: supabase.co\n";
  const urls = `api_url: ${api.url}\ndashboard_url: ${api.url}\n`;
  await Deno.writeTextFile(profile, names + urls);
  const target = [`--remote=${REF}`, `--profile=${fileURLToPath(profile)}`];
  const { code, stderr } = await supabase([...command, ...target, "--yes"], {
    env: { SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}` },
  });
  assertEquals(code, 0, stderr);
  assertNotMatch(stderr, /^WARN/im, "fix supabase/config.toml");
  return { stderr, writes };
}
