/**
 * Longest response of the Data API that is read, in bytes, by the length that it declares. One row
 * is asked for; the rest is room for the error pages of gateways.
 */
const MAX_LENGTH = 1 * 1024 * 1024;

// A redirect would carry the secret key to wherever it points. No client: the platform's own
// connections, until they have once been silent.
const INIT: RequestInit & { client?: Deno.HttpClient } = {
  redirect: "manual",
};
let connectedAt = -Infinity;

/**
 * Sends later queries over fresh connections. What is under way on the open ones goes on.
 *
 * A connection can die in silence, and Deno goes on using it: on HTTP/2 for every later query.
 *
 * @param silentSince When the silent query began, by `performance.now()`. Nothing happens if the
 * connections are fresher than that.
 */
export function leaveConnections(silentSince: number): void {
  if (connectedAt > silentSince) return;
  INIT.client?.close();
  INIT.client = Deno.createHttpClient({});
  connectedAt = performance.now();
}

/**
 * The `fetch` of the supabase-js client: the platform's, except that it never follows redirects,
 * makes every 404 an error, and does not read a response that declares to be too long.
 *
 * @param input The query's address.
 * @param init Its method, headers and signal.
 * @returns The Data API's response. One that is too long has an empty object for its text.
 * @throws {TypeError} When there is no whole response.
 * @throws {DOMException} When the signal aborts.
 */
export const fetchDataApi: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, ...INIT });
  const { status, headers } = response;
  const isTooLong = Number(headers.get("Content-Length")) > MAX_LENGTH;
  // Compressed all the same: Deno 2.1 decompresses that itself, and removes the header.
  const encoding = headers.get("Content-Encoding")?.replace("br", "brotli");
  if (!isTooLong && !encoding && status !== 404) return response;

  let text = "{}";
  if (isTooLong) await response.body?.cancel();
  else text = await new Response(decompress(response.body, encoding)).text();
  // supabase-js takes a 404 with an array for an empty result, and an empty 404 for a success.
  if (status === 404 && /^\s*(\[|$)/.test(text)) text = "{}";
  return Object.assign(response, { text: () => Promise.resolve(text) });
};

function decompress(body: ReadableStream | null, encoding?: string) {
  const format = encoding as CompressionFormat | undefined;
  return format ? body?.pipeThrough(new DecompressionStream(format)) : body;
}
