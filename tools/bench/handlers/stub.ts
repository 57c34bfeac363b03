/**
 * A Data API that responds at once, with one row of the project that it is asked for. The address
 * begins with the form of the response: `/compressed` (for whoever allows it, as hosted projects do),
 * `/chunked` (as PostgREST did before version 13), or `/plain`, with its length.
 */
import { Buffer } from "node:buffer";
import { brotliCompressSync } from "node:zlib";

// The load asks for one project only.
const compressed = new Map<string, Uint8Array<ArrayBuffer>>();

export default {
  fetch({ url, headers }: Request): Response {
    const [, project_id] = url.match(/project_id=eq\.([^&]+)/) ?? [];
    const row = JSON.stringify([{ project_id }]);
    const { pathname } = new URL(url);
    const type = { "Content-Type": "application/json; charset=utf-8" };
    if (pathname.startsWith("/chunked/")) {
      return new Response(new Blob([row]).stream(), { headers: type });
    }
    const allowed = headers.get("Accept-Encoding")?.includes("br");
    if (!pathname.startsWith("/compressed/") || !allowed) {
      return new Response(row, { headers: type });
    }
    const body = compressed.get(row) ??
      new Uint8Array(brotliCompressSync(Buffer.from(row)));
    compressed.set(row, body);
    return new Response(body, {
      headers: { ...type, "Content-Encoding": "br" },
    });
  },
};
