/** `deno task bench`: measures the function and a baseline. `README.md` shows what it prints. */
import { cp } from "node:fs/promises";
import config from "../../deno.json" with { type: "json" };
import { edgeDeno, npx, stdoutOf } from "../command.ts";
import { FUNCTION_FOLDER, SEEDED } from "../project.ts";
import {
  type FunctionOptions,
  startFunction,
} from "../stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../stack/local_service.ts";
import { makeTempFolder } from "../temp_folder.ts";
import { VERSIONS } from "../versions.ts";

const ROUNDS = 9;
const HANDLERS = ["bare", "function"];

const deno = await edgeDeno();
// Outside of the project, as a deployed function is.
await using root = await makeTempFolder();
const folderOf = (name: string) => new URL(`${name}/`, root.url);
await cp(new URL("handlers/", import.meta.url), root.url, { recursive: true });
await cp(FUNCTION_FOLDER, folderOf("function"), { recursive: true });
for (const name of ["bare", "stub"]) {
  const file = new URL("deno.json", folderOf(name));
  await Deno.writeTextFile(file, JSON.stringify({ imports: config.imports }));
}
const ROW = JSON.stringify([{ project_id: SEEDED.project_id }]);
const stub = { env: { ROW }, folder: folderOf("stub"), deno };
await using dataApi = await startFunction(stub);

const measured: Record<string, number[]> = {};
const env = platformEnv({ ...LOCAL_SERVICE, API_URL: dataApi.url.origin });
for (let round = 1; round <= ROUNDS; round++) {
  console.error(`Round ${round} of ${ROUNDS} ...`);
  for (const name of HANDLERS) {
    const perCpuSecond = await measure({ env, folder: folderOf(name), deno });
    (measured[name] ??= []).push(perCpuSecond);
  }
}

console.log("| Handler | Of bare | Requests per CPU second |");
console.log("| --- | --- | --: |");
for (const [name, figures] of Object.entries(measured)) {
  const ratios = figures.map((own, nth) => own / (measured.bare?.[nth] ?? 0));
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  const range = `(${least.toFixed(2)} to ${most.toFixed(2)})`;
  const ratio = median(ratios).toFixed(2);
  console.log(`| ${name} | ${ratio} ${range} | ${median(figures).toFixed()} |`);
}

/** Returns how many requests a handler serves for each second of its CPU time. */
async function measure(options: FunctionOptions): Promise<number> {
  await using handler = await startFunction(options);
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
  if (errors + non2xx > 0) {
    throw new Error(`${errors} errors, ${non2xx} statuses`);
  }
  return requests.total;
}

/** CPU time of a process's main thread so far. Only Linux reports it: elsewhere `NaN`. */
async function cpuSeconds(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return NaN;
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e9;
}

function median(figures: number[]): number {
  const middle = Math.floor(figures.length / 2);
  return figures.toSorted((a, b) => a - b)[middle] ?? NaN;
}
