import { App } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { serveOnLoopback } from "../loopback.ts";
import { addRoles, migrate, runSqlFile } from "./database.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

// `@supabase/lite` prints each error of PostgreSQL, although its response says the same.
const printError = console.error;
console.error = (...values) => {
  if (!values[0]?.severity) printError(...values);
};

/**
 * Starts the Data API (`@supabase/lite`) on PostgreSQL (PGlite, in memory) with the project's table
 * and seed. Throws a `StartError` if PostgreSQL rejects a migration or the seed.
 */
export async function startDataApi() {
  await using unfinished = new AsyncDisposableStack();
  const connection = await createPgliteConnection();
  unfinished.defer(() => connection.close());
  await addRoles(connection.driver, "closed");
  await migrate(connection.driver);
  await runSqlFile(connection.driver, "supabase/seed.sql");

  const { PUBLISHABLE_KEY, SECRET_KEY } = LOCAL_SERVICE;
  const keys = { publishable_key: PUBLISHABLE_KEY, secret_key: SECRET_KEY };
  const app = new App({ connection, auth: { enabled: false, ...keys } });
  const handle = async (request: Request) => {
    const query = withExactFilters(request);
    // An insert of 32,768 values makes PGlite lose the table.
    const insert = await query.clone().json().catch(() => null);
    const columns = Object.keys(insert?.[0] ?? {}).length;
    if (insert?.length * columns >= 32_768) {
      const message = "Too many keys for this stack: add up to 5,000 at once.";
      return Response.json({ message }, { status: 413 });
    }
    const response = await app.fetch(query);
    // PGlite sets the exit code when it starts, and when a statement fails.
    Deno.exitCode = 0;
    return response;
  };
  // The first request sets up the roles of `@supabase/lite`: several at once may fail.
  const first = "http://localhost/rest/v1/activation_keys?limit=1";
  await handle(new Request(first, { headers: { apikey: SECRET_KEY } }));
  const { url } = unfinished.use(serveOnLoopback(handle));
  return Object.assign(unfinished.move(), { url, connection });
}

/**
 * Rewrites filters for `@supabase/lite`. PostgREST takes the value of `eq.<value>` as it is; lite
 * trims it, unquotes it, and reads `null`, `true` and `{…}` as something else. It takes a quoted
 * value of an `in` list exactly, so `eq.<value>` becomes such a list.
 */
function withExactFilters(request: Request): Request {
  const url = new URL(request.url);
  const filters = Array.from(url.searchParams, ([column, filter]) => {
    const value = filter.match(/^eq\.(.*)/s)?.[1]?.replaceAll(/["\\]/g, "\\$&");
    return [column, value === undefined ? filter : `in.("${value}")`];
  });
  url.search = `${new URLSearchParams(filters)}`;
  // Not `new Request(url, request)`: Deno prints a notice when its signal is read.
  const { method, headers, body } = request;
  return new Request(url, { method, headers, body });
}
