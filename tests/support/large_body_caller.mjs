/**
 * A caller, for Deno and for Node: sends twenty bodies at once and prints what became of each.
 *
 *     large_body_caller.mjs <url> <bytes> declared|chunked
 */
import process from "node:process";

const [url, bytes, how] = process.argv.slice(2);
const CHUNK = new Uint8Array(16 * 1024).fill(0x20);

function* chunks(left) {
  for (; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left);
}

async function send() {
  const body = how === "declared"
    ? new Uint8Array(Number(bytes))
    : ReadableStream.from(chunks(Number(bytes)));
  try {
    const response = await fetch(url, { method: "POST", body, duplex: "half" });
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    return `${error.cause ?? error}`;
  }
}

const responses = await Promise.all(Array.from({ length: 20 }, send));
console.log(JSON.stringify(responses));
