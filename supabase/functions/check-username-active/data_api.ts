import type { PostgrestSingleResponse } from "@supabase/supabase-js";

/**
 * Longest response that is read, in bytes, if it declares its length. One row is asked for; the
 * rest is room for the error pages of gateways.
 */
const MAX_BYTES = 1024 * 1024;

/**
 * How long an idle connection is kept, in milliseconds. Deno's default is longer, and by then a
 * device on the way may have forgotten the connection.
 */
const MAX_IDLE_MS = 10_000;

/**
 * Shortest time between replacements, in milliseconds: as long as a lookup may take. So lookups
 * that still fail on the old connections do not replace the new ones as well.
 */
const MIN_KEPT_MS = 5_000;

/** Put in place of a text that is too long. A 200 with it is malformed, and not asked again. */
const NOT_A_LIST = "{}";

/**
 * Put in place of a text that supabase-js would take for a success. Not being JSON, it becomes an
 * error; with a 200, the query is sent again, as after a response that was cut.
 */
const NOT_JSON = "not JSON";

/** The client that holds the connections to the Data API. */
let httpClient = makeHttpClient();
let replacedAt = -Infinity;

/**
 * Lets the next queries go over new connections, unless the last replacement was less than 5 s ago.
 * Connections can go bad: they die in silence, or fail for as long as they are used. Deno keeps
 * using them; only a new client opens new ones. Queries under way on the old ones go on.
 */
export function replaceConnections(): void {
  if (performance.now() - replacedAt < MIN_KEPT_MS) return;
  const newClient = makeHttpClient();
  if (!newClient) return;
  httpClient?.close();
  httpClient = newClient;
  replacedAt = performance.now();
}

function makeHttpClient() {
  try {
    return Deno.createHttpClient({ poolIdleTimeout: MAX_IDLE_MS });
  } catch {
    // This runtime makes no client: the connections in use stay in use.
  }
}

/**
 * The `fetch` of the supabase-js client: the platform's, but over connections that can be replaced.
 * It follows no redirect, and does not read a response whose declared length is too long.
 *
 * @param input The query's address.
 * @param init Its method, headers and signal.
 * @returns The Data API's response. Its text is replaced if it is too long, or if supabase-js would
 * mistake it for a success.
 * @throws {TypeError} When there is no whole response.
 * @throws {DOMException} When the signal aborts.
 */
export const fetchDataApi: typeof fetch = async (input, init) => {
  // A redirect would take the secret key elsewhere.
  const options = { redirect: "manual", client: httpClient } as const;
  const response = await fetch(input, { ...init, ...options });
  const isTooLong = Number(response.headers.get("Content-Length")) > MAX_BYTES;
  if (isTooLong) await response.body?.cancel();
  let text = isTooLong ? NOT_A_LIST : await response.text();
  // supabase-js would take an empty 2xx or 404, or a 404 with an array, for a success.
  if (text === "" || (response.status === 404 && /^\s*\[/.test(text))) {
    text = NOT_JSON;
  }
  // The same response with another text: `new Response` would reject a status such as 600.
  return Object.assign(response, { text: () => Promise.resolve(text) });
};

/** What supabase-js makes of a response of the Data API. Status 0: no whole response came. */
export type Result = PostgrestSingleResponse<unknown>;

/**
 * Tells whether a result is a failure that may pass. These are:
 * - no whole response;
 * - a 200 whose text is not JSON, because Deno takes some cut responses for whole;
 * - 502 to 599, which gateways and PostgREST return during an outage;
 * - a 400 with an empty code, which PostgREST returns for the queries in flight when PostgreSQL
 *   crashes;
 * - a 401 `PGRST303`, which hosted projects return for a sound key now and then.
 *
 * @param result The result of a query.
 * @returns Whether another query may succeed.
 */
export function isTransient({ status, error }: Result): boolean {
  return status === 0 ||
    // The text is not JSON.
    (status === 200 && error !== null) ||
    (status >= 502 && status < 600) ||
    (status === 400 && error?.code === "") ||
    (status === 401 && error?.code === "PGRST303");
}
