import { fileURLToPath } from "node:url";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/** An upload of `supabase functions deploy`: what the platform would have got. */
export interface Upload {
  /** The uploaded files by their path. */
  files: Map<string, Uint8Array>;
  metadata: {
    name: string;
    entrypoint_path: string;
    import_map_path: string;
    verify_jwt: boolean;
  };
}

const PROJECT_REF = "abcdefghijklmnopqrst";
const PATH = `/v1/projects/${PROJECT_REF}`;

// A hosted project that has decided about everything that `supabase config push` could change.
const HOSTED_CONFIG = {
  api: {
    enabled: true,
    schemas: ["public", "operators_own"],
    extra_search_path: ["public"],
    max_rows: 500,
  },
  auth: {
    enabled: true,
    site_url: "https://operator.example",
    jwt_expiry: 777,
  },
  database: { major_version: 17, ssl_enforcement: { enabled: true } },
  pooler: { enabled: true, pool_mode: "session", default_pool_size: 33 },
  realtime: { enabled: true },
  storage: { enabled: true, file_size_limit: 104_857_600 },
};

const ANSWERS: Record<string, unknown> = {
  [PATH]: { ref: PROJECT_REF, status: "ACTIVE_HEALTHY" },
  [`${PATH}/functions`]: [],
  [`${PATH}/billing/addons`]: { selected_addons: [], available_addons: [] },
  [`/v2/projects/${PROJECT_REF}/config`]: {
    data: {
      id: PROJECT_REF,
      type: "project_config",
      attributes: HOSTED_CONFIG,
    },
  },
};

/** Stands in for the Management API of the platform, with one project. Disposing of it ends it. */
export async function startManagementApi() {
  const running = new AsyncDisposableStack();
  const uploads: Upload[] = [];
  const writes: string[] = [];
  const { url } = running.use(serveOnLoopback(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === `${PATH}/functions/deploy`) {
      const upload = await readUpload(request);
      uploads.push(upload);
      const slug = upload.metadata.name;
      const added = { id: "1", slug, status: "ACTIVE", version: 1 };
      return Response.json({ ...added, ...upload.metadata }, { status: 201 });
    }
    if (request.method !== "GET") writes.push(`${request.method} ${pathname}`);
    return Response.json(ANSWERS[pathname] ?? {});
  }));
  const folder = running.use(await makeTempFolder());
  const profile = new URL("profile.yaml", folder.url);
  await Deno.writeTextFile(
    profile,
    `name: stand-in\napi_url: ${url}\ndashboard_url: ${url}\nproject_host: supabase.co\n`,
  );
  return {
    /** What the CLI has uploaded so far. */
    uploads,
    /** Method and path of each request that would have changed something, except uploads. */
    writes,
    /** Arguments that send the CLI here instead of to the platform, and variables to go with them. */
    args: [
      `--remote=${PROJECT_REF}`,
      "--profile",
      fileURLToPath(profile),
      "--yes",
    ],
    env: { SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}` },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function readUpload(request: Request): Promise<Upload> {
  const form = await request.formData();
  const files = new Map<string, Uint8Array>();
  for (const file of form.getAll("file")) {
    if (file instanceof File) files.set(file.name, await file.bytes());
  }
  return { files, metadata: JSON.parse(String(form.get("metadata"))) };
}
