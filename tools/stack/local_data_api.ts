import { App } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { serveOnLoopback } from "../loopback.ts";
import { execFile, migrate, prepare } from "./database.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

// `@supabase/lite` prints a dump of every database error, all of which its response says as well.
const { error: print } = console;
console.error = (...args) => args[0]?.severity ?? print(...args);

/**
 * Starts the Data API (`@supabase/lite`), over PostgreSQL (PGlite, in memory) with the project's table
 * and seed. Throws a `StartError` if PostgreSQL rejects a migration or the seed.
 */
export async function startDataApi() {
  await using unfinished = new AsyncDisposableStack();
  const connection = await createPgliteConnection();
  unfinished.defer(() => connection.close());
  await prepare(connection.driver, "closed");
  await migrate(connection.driver);
  await execFile(connection.driver, "supabase/seed.sql");

  const app = new App({
    connection,
    auth: {
      enabled: false,
      publishable_key: LOCAL_SERVICE.PUBLISHABLE_KEY,
      secret_key: LOCAL_SERVICE.SECRET_KEY,
    },
  });
  const server = unfinished.use(
    serveOnLoopback(async (request) => {
      const response = await app.fetch(withRawFilters(request));
      // PGlite sets it when it starts, and when a statement fails.
      Deno.exitCode = 0;
      return response;
    }),
  );

  // The first requests make `@supabase/lite` set up its roles; concurrent ones would fail now and then.
  const headers = { apikey: LOCAL_SERVICE.SECRET_KEY };
  const url = `${server.url}/rest/v1/activation_keys?limit=1`;
  await (await fetch(url, { headers })).text();
  return Object.assign(unfinished.move(), { url: server.url });
}

/**
 * PostgREST takes the value of `eq.<value>` as it is. `@supabase/lite` trims it, unquotes it and
 * reads `null`, `true` and `{…}` as something else, but takes the one quoted value of an `in` list
 * exactly. So here, and only here, the one is written as the other.
 */
function withRawFilters(request: Request): Request {
  const url = new URL(request.url);
  const filters = Array.from(url.searchParams, ([name, value]) => {
    const raw = value.match(/^eq\.(.*)$/s)?.[1];
    if (raw === undefined) return [name, value];
    return [name, `in.("${raw.replaceAll(/["\\]/g, "\\$&")}")`];
  });
  url.search = new URLSearchParams(filters).toString();
  // Not the whole request: Deno prints a notice when its signal is read.
  const { method, headers, body } = request;
  return new Request(url, { method, headers, body });
}
