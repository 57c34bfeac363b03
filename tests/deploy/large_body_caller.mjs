/**
 * Sends twenty bodies at once, every other one in chunks, and prints what each brought back. For Deno
 * and for Node: `large_body_caller.mjs <url> <KiB>`.
 */
import process from "node:process";

const [url, size] = process.argv.slice(2);
const bytes = new Uint8Array(1024 * Number(size));
const sent = Array.from({ length: 20 }, async (_, index) => {
  const body = index % 2 === 0 ? bytes : new Blob([bytes]).stream();
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(url, {
    method: "POST",
    body,
    duplex: "half",
    signal,
  });
  return `${response.status} ${await response.text()}`;
});
console.log((await Promise.all(sent)).join("\n"));
