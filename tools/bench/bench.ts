/** `deno task bench`: compares the function with bare supabase-js. CONTRIBUTING.md has a result. */
import { Buffer } from "node:buffer";
import { brotliCompressSync } from "node:zlib";
import { edgeDeno } from "../command.ts";
import { serveOnLoopback } from "../loopback.ts";
import { FUNCTION_FOLDER, SEEDED } from "../project.ts";
import { startFunction } from "../stack/function_process.ts";
import { copyToTempFolder } from "../temp_folder.ts";

const ROUNDS = 9;
const CALLERS = 16;
const REQUESTS = 20_000;

// A Data API that responds at once, compressed, as hosted projects do.
const { project_id, username: curr_user } = SEEDED;
const row = JSON.stringify([{ project_id, curr_user }]);
const compressed = new Uint8Array(brotliCompressSync(Buffer.from(row)));
const headers = { "Content-Encoding": "br" };
await using dataApi = serveOnLoopback(() =>
  new Response(compressed, { headers })
);

const deno = await edgeDeno();
for (let round = 1; round <= ROUNDS; round++) {
  const bareMs = await measure(new URL("bare.ts", import.meta.url));
  const ownMs = await measure();
  console.log(`${round} of ${ROUNDS}: speed ${(bareMs / ownMs).toFixed(2)}`);
}

/** Returns the milliseconds of CPU time that the function, or another entry, takes. */
async function measure(entry?: URL): Promise<number> {
  // Outside of the project, as a deployed function is.
  await using folder = await copyToTempFolder(FUNCTION_FOLDER);
  if (entry) await Deno.copyFile(entry, new URL("index.ts", folder.url));
  const options = { deno, folder: folder.url };
  await using handler = await startFunction(dataApi.url, options);
  await load(handler.url, REQUESTS / 4); // Warms it up.
  const before = await cpuMs(handler.pid);
  await load(handler.url, REQUESTS);
  return await cpuMs(handler.pid) - before;
}

/** Lets callers send the same well-formed request. Throws when a response is not a 200. */
async function load(url: URL, requests: number): Promise<void> {
  const body = JSON.stringify(SEEDED);
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    for (let sent = 0; sent < requests / CALLERS; sent++) {
      const response = await fetch(url, { method: "POST", body });
      await response.bytes();
      if (!response.ok) throw new Error(`Status ${response.status}`);
    }
  }));
}

/** CPU time of a process's main thread so far, as Linux reports it. */
async function cpuMs(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e6;
}
