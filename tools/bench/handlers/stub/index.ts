/**
 * A Data API that responds at once with `ROW`, in the form that the path names first: `compressed`,
 * `chunked`, or `plain` (with `Content-Length`).
 */
import { Buffer } from "node:buffer";
import { brotliCompressSync } from "node:zlib";

const { ROW = "" } = Deno.env.toObject();
const COMPRESSED = new Uint8Array(brotliCompressSync(Buffer.from(ROW)));
const TYPE = { "Content-Type": "application/json; charset=utf-8" };

export default {
  fetch({ url }: Request): Response {
    const [, form] = new URL(url).pathname.split("/");
    if (form === "compressed") {
      const headers = { ...TYPE, "Content-Encoding": "br" };
      return new Response(COMPRESSED, { headers });
    }
    const body = form === "chunked" ? new Blob([ROW]).stream() : ROW;
    return new Response(body, { headers: TYPE });
  },
};
