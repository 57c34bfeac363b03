/** `deno task bench`: compares the function with bare supabase-js. `README.md` has a result. */
import { Buffer } from "node:buffer";
import { cp } from "node:fs/promises";
import { brotliCompressSync } from "node:zlib";
import { edgeDeno, npx, stdoutOf } from "../command.ts";
import { serveOnLoopback } from "../loopback.ts";
import { FUNCTION_FOLDER, SEEDED } from "../project.ts";
import { startFunction } from "../stack/function_process.ts";
import { makeTempFolder } from "../temp_folder.ts";
import { VERSIONS } from "../versions.ts";

const ROUNDS = 9;

// A Data API that responds at once, compressed, as hosted projects do.
const row = JSON.stringify([{ project_id: SEEDED.project_id }]);
const compressed = new Uint8Array(brotliCompressSync(Buffer.from(row)));
const headers = {
  "Content-Type": "application/json",
  "Content-Encoding": "br",
};
await using dataApi = serveOnLoopback(() =>
  new Response(compressed, { headers })
);

const deno = await edgeDeno();
const perCpuSecond: Record<string, number[]> = { bare: [], function: [] };
for (let round = 1; round <= ROUNDS; round++) {
  console.error(`Round ${round} of ${ROUNDS} ...`);
  for (const [name, figures] of Object.entries(perCpuSecond)) {
    // Outside of the project, as a deployed function is.
    await using copy = await makeTempFolder();
    await cp(FUNCTION_FOLDER, copy.url, { recursive: true });
    const entry = new URL("index.ts", copy.url);
    const bare = new URL("bare.ts", import.meta.url);
    if (name === "bare") await Deno.copyFile(bare, entry);
    figures.push(await measure(copy.url));
  }
}
const { bare = [], function: own = [] } = perCpuSecond;
const ratios = own.map((figure, round) => figure / (bare[round] ?? NaN)).sort();
const middle = Math.floor(ROUNDS / 2);
const [least, median, most] = [0, middle, ROUNDS - 1]
  .map((nth) => ratios[nth]?.toFixed(2));
const served = own.sort((a, b) => a - b)[middle]?.toFixed();
console.log(`Of bare supabase-js: ${median} (${least} to ${most})`);
console.log(`Requests for each second of CPU time: ${served}`);

/** Returns how many requests a folder's handler serves for each second of its CPU time. */
async function measure(folder: URL): Promise<number> {
  await using handler = await startFunction(dataApi.url, { deno, folder });
  await load(handler.url, 1); // Warms it up.
  const before = await cpuSeconds(handler.pid);
  const requests = await load(handler.url, 2);
  return requests / (await cpuSeconds(handler.pid) - before);
}

/** Sends the same well-formed request over and over. Throws when a response is not a 200. */
async function load(url: URL, seconds: number): Promise<number> {
  // By npx: if `deno.json` listed it, every `deno task` would download its 60 packages.
  const options = `--json --method=POST --connections=16 --duration=${seconds}`;
  const body = `--body=${JSON.stringify(SEEDED)}`;
  const args = [...options.split(" "), body, url.href];
  const output = await npx(`autocannon@${VERSIONS.autocannon}`, args);
  const { errors, non2xx, requests } = JSON.parse(stdoutOf(output));
  if (errors + non2xx > 0) throw new Error(output.stdout);
  return requests.total;
}

/** CPU time of a process's main thread so far, as Linux reports it. */
async function cpuSeconds(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e9;
}
