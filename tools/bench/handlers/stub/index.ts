/**
 * A Data API that responds at once with `ROW`, in the form that its path begins with: `compressed`,
 * `chunked`, or `plain`, which is with its length.
 */
import { Buffer } from "node:buffer";
import { brotliCompressSync } from "node:zlib";

const { ROW = "" } = Deno.env.toObject();
const COMPRESSED = new Uint8Array(brotliCompressSync(Buffer.from(ROW)));
const PLAIN = { "Content-Type": "application/json; charset=utf-8" };

export default {
  fetch({ url }: Request): Response {
    const [, form] = new URL(url).pathname.split("/");
    if (form === "compressed") {
      const headers = { ...PLAIN, "Content-Encoding": "br" };
      return new Response(COMPRESSED, { headers });
    }
    const body = form === "chunked" ? new Blob([ROW]).stream() : ROW;
    return new Response(body, { headers: PLAIN });
  },
};
