import { now } from "./clock.ts";
import type { Pool } from "./retries.ts";

/**
 * Longest response that is read, in bytes, by the length that it declares. One row is asked for; the
 * rest is room for the error pages of gateways.
 */
const MAX_LENGTH = 1 * 1024 * 1024;

/**
 * The connections to the Data API. They can go bad: die in silence, or fail for as long as they are
 * used. Deno goes on using them, and only another client gets others.
 */
export const pool: Pool = {
  // Those of Deno's own client, until they are replaced.
  current: { trustedAt: -Infinity },
  replace() {
    const { client } = pool.current;
    try {
      pool.current = { client: Deno.createHttpClient({}), trustedAt: now() };
      // What is under way on the old ones goes on.
      client?.close();
    } catch {
      // No other client can be made: these stay.
    }
  },
};

/**
 * The `fetch` of the supabase-js client: the platform's, but over the pool's connections. It follows no
 * redirect, makes every 404 an error, and does not read a response that declares to be too long.
 *
 * @param input The query's address.
 * @param init Its method, headers and signal.
 * @returns The Data API's response. The text of one that is too long is an empty object.
 * @throws {TypeError} When there is no whole response.
 * @throws {DOMException} When the signal aborts.
 */
export const fetchDataApi: typeof fetch = async (input, init) => {
  const { client } = pool.current;
  const own: RequestInit = { redirect: "manual", ...client && { client } };
  const response = await fetch(input, { ...init, ...own });
  const isTooLong = Number(response.headers.get("Content-Length")) > MAX_LENGTH;
  if (isTooLong) await response.body?.cancel();
  let text = isTooLong ? "{}" : await response.text();
  // supabase-js would take an empty text, and a 404 with an array, for a success without rows. What it
  // cannot parse is an error.
  if (text === "" || (!response.ok && /^\s*\[/.test(text))) text = "not JSON";
  return Object.assign(response, { text: () => Promise.resolve(text) });
};
