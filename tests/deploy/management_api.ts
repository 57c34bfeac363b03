import { serveOnLoopback } from "../../tools/loopback.ts";

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

/** Stands in for the Management API of the platform. Disposing of it ends it. */
export interface ManagementApi extends AsyncDisposable {
  /** What the CLI has uploaded so far. */
  uploads: Upload[];
  /** Method and path of each request that would have changed something, except uploads. */
  writes: string[];
  /** Arguments that send the CLI here instead of to the platform. */
  args: string[];
  /** Variables that go with them. */
  env: Record<string, string>;
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

/** Starts a Management API on a loopback port, with one project. */
export async function startManagementApi(): Promise<ManagementApi> {
  const uploads: Upload[] = [];
  const writes: string[] = [];

  const server = serveOnLoopback(async (request) => {
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
  });

  const { url } = server;
  const profile = await Deno.makeTempFile({ suffix: ".yaml" });
  await Deno.writeTextFile(
    profile,
    `name: stand-in\napi_url: ${url}\ndashboard_url: ${url}\nproject_host: supabase.co\n`,
  );
  return {
    uploads,
    writes,
    args: [`--remote=${PROJECT_REF}`, "--profile", profile, "--yes"],
    env: { SUPABASE_ACCESS_TOKEN: `sbp_${"0123456789".repeat(4)}` },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(profile);
    },
  };
}

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

async function readUpload(request: Request): Promise<Upload> {
  const form = await request.formData();
  const files = new Map<string, Uint8Array>();
  for (const file of form.getAll("file")) {
    if (file instanceof File) files.set(file.name, await file.bytes());
  }
  return { files, metadata: JSON.parse(String(form.get("metadata"))) };
}
