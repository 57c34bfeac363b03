/**
 * The local stack's Data API: `@supabase/lite` on PGlite, corrected where it does something in
 * another way than Supabase's.
 */
import { App } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { addRoles, type Database, MIGRATIONS, runFiles } from "./database.ts";
import { serveOnLoopback } from "./loopback.ts";
import { LOCAL_SERVICE } from "./project.ts";

/**
 * Starts the Data API on PostgreSQL, in memory, with the project's table and seed. Returns its
 * address. Throws if PostgreSQL rejects a migration or the seed.
 */
export async function startDataApi() {
  keepByteOrderMarks();
  const connection = await createPgliteConnection();
  const db = connection.driver;
  await addRoles(db, "nothing");
  await runFiles(db, ...MIGRATIONS, "supabase/seed.sql");
  const { PUBLISHABLE_KEY, SECRET_KEY } = LOCAL_SERVICE;
  const keys = { publishable_key: PUBLISHABLE_KEY, secret_key: SECRET_KEY };
  const app = new App({ connection, auth: { enabled: false, ...keys } });
  const handle = async (request: Request) =>
    withPostgrestStatus(await app.fetch(await withExactName(request)));
  const firstRequest = new Request("http://localhost/rest/v1/activation_keys?limit=1", {
    headers: { apikey: SECRET_KEY },
  });
  await keepRights(db, () => handle(firstRequest));
  return serveOnLoopback(handle);
}

/** PGlite decodes each value as a file, and would cut a byte order mark off the start of a name. */
function keepByteOrderMarks() {
  const { TextDecoder } = globalThis;
  globalThis.TextDecoder = class extends TextDecoder {
    constructor(label?: string, options?: TextDecoderOptions) {
      super(label, { ignoreBOM: true, ...options });
    }
  };
}

/**
 * At its first request, `@supabase/lite` grants its roles everything on every table. This puts back
 * the rights that the migrations gave. (Two first requests at once would fail now and then.)
 */
async function keepRights(db: Database, sendFirstRequest: () => Promise<unknown>) {
  await db.exec(`create temporary table rights as
    select oid, relacl from pg_class where relnamespace = 'public'::regnamespace`);
  await sendFirstRequest();
  await db.exec(`update pg_class set relacl = rights.relacl
    from rights where rights.oid = pg_class.oid`);
}

/**
 * PostgREST takes the name of `eq.<name>` as it is. `@supabase/lite` trims and unquotes it, and
 * reads `null`, `true` and `{…}` as something else, but takes a quoted name of `in` exactly.
 */
async function withExactName(request: Request): Promise<Request> {
  const url = new URL(request.url);
  const name = url.searchParams.get("curr_user")?.match(/^eq\.(.*)/s)?.[1];
  if (name !== undefined) {
    const quoted = name.replaceAll(/["\\]/g, "\\$&");
    url.searchParams.set("curr_user", `in.("${quoted}")`);
  }
  // Not `new Request(url, request)`: Deno prints a notice when its signal is read.
  const { method, headers } = request;
  return new Request(url, { method, headers, body: await request.text() || null });
}

/** If a check of the table refuses a row, PostgREST sends 400, and `@supabase/lite` 500. */
async function withPostgrestStatus(response: Response): Promise<Response> {
  if (response.status !== 500) return response;
  const text = await response.text();
  const status = text.includes("violates check constraint") ? 400 : 500;
  return new Response(text, { status, headers: response.headers });
}
