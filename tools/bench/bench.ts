/** `deno task bench`: measures the function and two baselines. `README.md` shows what it prints. */
import { cp } from "node:fs/promises";
import config from "../../deno.json" with { type: "json" };
import { edgeDeno, npx, run, stdoutOf } from "../command.ts";
import { FUNCTION_FOLDER, SEEDED } from "../project.ts";
import { startFunction } from "../stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../stack/local_service.ts";
import { makeTempFolder } from "../temp_folder.ts";
import { VERSIONS } from "../versions.ts";

const ROUNDS = 9;

const deno = await edgeDeno();
// Outside of the project, as a deployed function is.
await using root = await makeTempFolder();
const folderOf = (name: string) => new URL(`${name}/`, root.url);
await cp(new URL("handlers/", import.meta.url), root.url, { recursive: true });
await cp(FUNCTION_FOLDER, folderOf("function"), { recursive: true });
for (const name of ["bare", "scaffold", "stub"]) {
  const file = new URL("deno.json", folderOf(name));
  await Deno.writeTextFile(file, JSON.stringify({ imports: config.imports }));
}
const ROW = JSON.stringify([{ project_id: SEEDED.project_id }]);
const stub = { env: { ROW }, folder: folderOf("stub"), deno };
await using dataApi = await startFunction(stub);

console.log(
  `| Data API | Handler | Of bare | Requests per CPU second | p99 ms |
| --- | --- | --- | --: | --: |`,
);
const importsMs: Record<string, number[]> = {};
for (const form of ["compressed", "chunked", "plain"]) {
  const API_URL = `${dataApi.url.origin}/${form}`;
  const env = platformEnv({ ...LOCAL_SERVICE, API_URL });
  const bare: Figures[] = [];
  const all = { bare, function: [], scaffold: [] };
  const byName = Object.entries<Figures[]>(all);
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`${form}, round ${round} of ${ROUNDS} ...`);
    for (const [name, figures] of byName) {
      const measured = await measure(folderOf(name), env);
      figures.push(measured);
      (importsMs[name] ??= []).push(measured.importMs);
    }
  }
  for (const [name, figures] of byName) {
    const perCpuSecond = figures.map(({ perCpuSecond }) => perCpuSecond);
    const ofBare = perCpuSecond.map((own, index) =>
      own / (bare[index]?.perCpuSecond ?? NaN)
    );
    const [least, most] = [Math.min(...ofBare), Math.max(...ofBare)];
    const range = `(${least.toFixed(2)} to ${most.toFixed(2)})`;
    const ratio = `${median(ofBare).toFixed(2)} ${range}`;
    const served = median(perCpuSecond).toFixed();
    const p99Ms = median(figures.map(({ p99Ms }) => p99Ms)).toFixed();
    console.log(`| ${form} | ${name} | ${ratio} | ${served} | ${p99Ms} |`);
  }
}

const functionMs = median(importsMs.function ?? []);
const scaffoldMs = median(importsMs.scaffold ?? []);
console.log(
  `\nImport: ${functionMs.toFixed()} ms, the scaffold's ${scaffoldMs.toFixed()} ms, ` +
    `ratio ${(functionMs / scaffoldMs).toFixed(2)}`,
);

/** What one round shows of a handler. */
type Figures = Awaited<ReturnType<typeof measure>>;

/** Times a handler's import in one process, and its requests in another. */
async function measure(folder: URL, env: Record<string, string>) {
  // This downloads its packages.
  await using handler = await startFunction({ env, folder, deno });
  // `eval` uses no code cache: a new isolate of the platform finds none, either.
  const script = `const startedAt = performance.now();
    await import("./index.ts");
    console.log(performance.now() - startedAt);`;
  const args = ["eval", "--cached-only", "--no-lock", script];
  const imported = await run(deno, args, { cwd: folder, env });
  const importMs = Number(stdoutOf(imported));

  await load(handler.url, 1); // Warms it up.
  const before = await cpuSeconds(handler.pid);
  const { requests, p99Ms } = await load(handler.url, 2);
  const seconds = await cpuSeconds(handler.pid) - before;
  return { perCpuSecond: requests / seconds, p99Ms, importMs };
}

/** Sends the same well-formed request over and over. Throws when a response is not a 200. */
async function load(url: URL, seconds: number) {
  // By npx: if `deno.json` listed it, every `deno task` would download its 60 packages.
  const options = `--json --method=POST --connections=16 --duration=${seconds}`;
  const body = `--body=${JSON.stringify(SEEDED)}`;
  const args = [...options.split(" "), body, url.href];
  const output = await npx(`autocannon@${VERSIONS.autocannon}`, args);
  const { errors, non2xx, requests, latency } = JSON.parse(stdoutOf(output));
  if (errors + non2xx > 0) {
    throw new Error(`${errors} errors, ${non2xx} other statuses`);
  }
  return { requests: Number(requests.total), p99Ms: Number(latency.p99) };
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
