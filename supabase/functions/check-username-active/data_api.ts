/**
 * Longest response that is read, in bytes, by the length that it declares. One row is asked for; the
 * rest is room for the error pages of gateways.
 */
const MAX_LENGTH = 1 * 1024 * 1024;

/**
 * How long an idle connection is kept, in milliseconds. By default, Deno keeps it for longer, and then
 * meets connections that a device on the way has forgotten.
 */
const MAX_IDLE_MS = 10_000;

/** How long new connections are kept at least, in milliseconds, however many lookups fail meanwhile. */
const MIN_KEPT_MS = 5_000;

/** Holds the connections to the Data API. */
let client = createClient();
let replacedAt = -Infinity;

/**
 * Lets the next queries go over new connections, unless the present ones are new themselves.
 * Connections can go bad: they die in silence, or fail for as long as they are used. Deno goes on using
 * them, and only another client gets others. A query that is under way on the old ones goes on.
 */
export function replaceConnections(): void {
  if (performance.now() - replacedAt < MIN_KEPT_MS) return;
  const newClient = createClient();
  if (!newClient) return;
  client?.close();
  client = newClient;
  replacedAt = performance.now();
}

function createClient() {
  try {
    return Deno.createHttpClient({ poolIdleTimeout: MAX_IDLE_MS });
  } catch {
    // No client can be made: the old one stays, or else Deno's own is used.
  }
}

/**
 * The `fetch` of the supabase-js client: the platform's, but over connections that can be replaced. It
 * follows no redirect, and does not read a response that declares to be too long.
 *
 * @param input The query's address.
 * @param init Its method, headers and signal.
 * @returns The Data API's response, as supabase-js reads it. Where supabase-js would take something else
 * for a success without rows, its text is not JSON.
 * @throws {TypeError} When there is no whole response.
 * @throws {DOMException} When the signal aborts.
 */
export const fetchDataApi: typeof fetch = async (input, init) => {
  // A redirect would take the secret key elsewhere.
  const own = { redirect: "manual" as const, client };
  const response = await fetch(input, { ...init, ...own });
  const isTooLong = Number(response.headers.get("Content-Length")) > MAX_LENGTH;
  if (isTooLong) await response.body?.cancel();
  let text = isTooLong ? "{}" : await response.text();
  // supabase-js would take an empty text, and a 404 with an array, for a success without rows.
  if (text === "" || (!response.ok && /^\s*\[/.test(text))) text = "not JSON";
  // What supabase-js reads. `new Response` would not take every status.
  return Object.assign(response, { text: () => Promise.resolve(text) });
};
