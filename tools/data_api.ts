import { App } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { addRoles, migrate, runFiles } from "./database.ts";
import { serveOnLoopback } from "./loopback.ts";
import { LOCAL_SERVICE } from "./project.ts";

// PGlite decodes each value as a file: a name would lose a byte order mark at its beginning.
const { TextDecoder } = globalThis;
globalThis.TextDecoder = class extends TextDecoder {
  constructor(label?: string, options?: TextDecoderOptions) {
    super(label, { ignoreBOM: true, ...options });
  }
};

/**
 * Starts the Data API (`@supabase/lite`) on PostgreSQL (PGlite, in memory) with the project's table
 * and seed. Throws if PostgreSQL rejects a migration or the seed.
 */
export async function startDataApi() {
  const connection = await createPgliteConnection();
  await addRoles(connection.driver, "nothing");
  await migrate(connection.driver);
  await runFiles(connection.driver, "supabase/seed.sql");
  const { PUBLISHABLE_KEY, SECRET_KEY } = LOCAL_SERVICE;
  const keys = { publishable_key: PUBLISHABLE_KEY, secret_key: SECRET_KEY };
  const app = new App({ connection, auth: { enabled: false, ...keys } });
  const handle = async (request: Request) => await app.fetch(withExactName(request));
  // At its first request, `@supabase/lite` grants its roles everything on every table. The rights
  // that the migrations gave are kept before, and put back afterwards. No other request may come at
  // the same time, because the grants of both would then fail now and then.
  await connection.driver.exec(`create temporary table rights as
    select oid, relacl from pg_class where relnamespace = 'public'::regnamespace`);
  const first = "http://localhost/rest/v1/activation_keys?limit=1";
  await handle(new Request(first, { headers: { apikey: SECRET_KEY } }));
  await connection.driver.exec(`update pg_class set relacl = rights.relacl
    from rights where rights.oid = pg_class.oid`);
  return serveOnLoopback(handle);
}

/**
 * PostgREST takes the name of `eq.<name>` as it is. `@supabase/lite` trims and unquotes it, and
 * reads `null`, `true` and `{…}` as something else. A quoted name of `in` it takes exactly.
 */
function withExactName(request: Request): Request {
  const url = new URL(request.url);
  const name = url.searchParams.get("curr_user")?.match(/^eq\.(.*)/s)?.[1];
  if (name !== undefined) {
    const quoted = name.replaceAll(/["\\]/g, "\\$&");
    url.searchParams.set("curr_user", `in.("${quoted}")`);
  }
  // Not `new Request(url, request)`: Deno prints a notice when its signal is read.
  const { method, headers, body } = request;
  return new Request(url, { method, headers, body });
}
