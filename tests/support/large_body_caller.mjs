/**
 * A caller, for Deno and for Node: sends bodies that are too long, twenty of each at once, and
 * prints what became of them.
 *
 *     large_body_caller.mjs <url>
 */
import process from "node:process";

// What broke the connection of callers before the rest of a body was read: bytes, and how sent.
const BODIES = [
  [17_408, "chunked"],
  [204_800, "chunked"],
  [1_048_576, "chunked"],
  [3_145_728, "declared"],
];
const CHUNK = new Uint8Array(16 * 1024).fill(0x20);

function* chunks(left) {
  for (; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left);
}

async function send(bytes, how) {
  const body = how === "declared"
    ? new Uint8Array(bytes)
    : ReadableStream.from(chunks(bytes));
  try {
    const init = { method: "POST", body, duplex: "half" };
    const response = await fetch(process.argv[2], init);
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    return `${bytes} ${how}: ${error.cause ?? error}`;
  }
}

const responses = [];
for (const [bytes, how] of BODIES) {
  const twenty = Array.from({ length: 20 }, () => send(bytes, how));
  responses.push(...await Promise.all(twenty));
}
console.log(JSON.stringify(responses));
