/**
 * The Data API of the local stack. It is in a worker because PGlite, while it is open, sets the
 * exit code of its thread: Deno would fail each test in that thread.
 */
import { parentPort } from "node:worker_threads";
import { App } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { serveOnLoopback } from "../loopback.ts";
import { addRoles, migrate, runSqlFile } from "./database.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

// PostgreSQL's errors, which have a `severity`, are not printed: the responses contain them.
const printError = console.error;
console.error = (...values) => {
  if (!values[0]?.severity) printError(...values);
};

// PGlite decodes each value as if it was a file: of a name that begins with a byte order mark, it
// would lose the mark.
const { TextDecoder } = globalThis;
globalThis.TextDecoder = class extends TextDecoder {
  constructor(label?: string, options?: TextDecoderOptions) {
    super(label, { ignoreBOM: true, ...options });
  }
};

const { PUBLISHABLE_KEY, SECRET_KEY } = LOCAL_SERVICE;
const keys = { publishable_key: PUBLISHABLE_KEY, secret_key: SECRET_KEY };

try {
  const connection = await createPgliteConnection();
  await addRoles(connection.driver, "closed");
  await migrate(connection.driver);
  await runSqlFile(connection.driver, "supabase/seed.sql");
  const app = new App({ connection, auth: { enabled: false, ...keys } });
  const handle = async (request: Request) =>
    await app.fetch(withExactFilters(request));
  // The first request sets up the roles of `@supabase/lite`: several at once may fail.
  const first = "http://localhost/rest/v1/activation_keys?limit=1";
  await handle(new Request(first, { headers: { apikey: SECRET_KEY } }));
  const { url } = serveOnLoopback(handle);

  // A message is SQL. The response has the rows of its last statement.
  parentPort?.on("message", async (sql) => {
    try {
      const results = await connection.driver.exec(sql);
      // The Data API of a hosted project sees by itself that a table has changed.
      await connection.introspect();
      parentPort?.postMessage({ rows: results.at(-1)?.rows ?? [] });
    } catch (error) {
      parentPort?.postMessage({ error });
    }
  });
  parentPort?.postMessage({ url });
} catch (error) {
  parentPort?.postMessage({ error });
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
