/**
 * Longest response of the Data API that is read, in bytes, by the length that it declares. One row
 * is asked for; the rest is room for the error pages of gateways.
 */
const MAX_LENGTH = 1 * 1024 * 1024;

/** Names of `DecompressionStream` for those of `Content-Encoding`. */
const FORMATS = new Map([["br", "brotli"], ["gzip", "gzip"]]);

// A redirect would carry the secret key to wherever it points. The headers are those of the first query,
// which costs less than to make them for each. Without a client, Deno uses its own: until the first
// silence.
const own: RequestInit & { client?: Deno.HttpClient } = { redirect: "manual" };
let connectedAt = -Infinity;

/** Asked for, because one row is too short for compression to gain anything. */
const UNCOMPRESSED = ["Accept-Encoding", "identity"];

/**
 * Sends later queries over fresh connections. What is under way on the open ones goes on.
 *
 * A connection can die in silence, and Deno goes on using it: on HTTP/2 for every later query.
 *
 * @param lookupMs How long ago the lookup began, in milliseconds. Nothing happens if the connections
 * are fresher than that.
 */
export function leaveConnections(lookupMs: number): void {
  if (performance.now() - connectedAt < lookupMs) return;
  own.client?.close();
  own.client = Deno.createHttpClient({});
  connectedAt = performance.now();
}

/**
 * The `fetch` of the supabase-js client: the platform's, except that it asks for no compression,
 * never follows redirects, makes every 404 an error, and does not read a response that declares to be
 * too long.
 *
 * @param input The query's address.
 * @param init Its method, headers and signal.
 * @returns The Data API's response. One that is too long has an empty object for its text.
 * @throws {TypeError} When there is no whole response.
 * @throws {DOMException} When the signal aborts.
 */
export const fetchDataApi: typeof fetch = async (input, init) => {
  own.headers ??= [...init?.headers as Headers, UNCOMPRESSED];
  const response = await fetch(input, { ...init, ...own });
  const isTooLong = Number(response.headers.get("Content-Length")) > MAX_LENGTH;
  const format = FORMATS.get(response.headers.get("Content-Encoding") ?? "");
  if (!isTooLong && !format && response.status !== 404) return response;

  // Compressed unasked. Deno 2.1 has decompressed it already; its types lack "brotli".
  const decoder = format && new DecompressionStream(format as "gzip");
  const body = decoder ? response.body?.pipeThrough(decoder) : response.body;
  if (isTooLong) await body?.cancel();
  let text = isTooLong ? "{}" : await new Response(body).text();
  // supabase-js takes a 404 with an array for an empty result, and an empty 404 for a success.
  if (response.status === 404 && /^\s*(\[|$)/.test(text)) text = "{}";
  return Object.assign(response, { text: () => Promise.resolve(text) });
};
