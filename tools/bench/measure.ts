import { npx, type Output, run } from "../command.ts";
import { SEEDED } from "../project.ts";
import {
  type FunctionOptions,
  startFunction,
} from "../stack/function_process.ts";
import { VERSIONS } from "../versions.ts";

/** What one round shows of a handler. */
export interface Figures {
  /** Requests per second of the main thread's CPU time. Only Linux reports it: elsewhere `NaN`. */
  perCpuSecond: number;
  p99Ms: number;
  /** How long its import takes. */
  importMs: number;
}

/** Imports a handler in a fresh process, and loads it in another one. */
export async function measure(
  options: FunctionOptions & { folder: URL; deno: string },
): Promise<Figures> {
  // `eval` keeps no code cache, and the platform's isolates find none of an earlier run.
  const script = `const startedAt = performance.now();
    await import("./index.ts");
    console.log(performance.now() - startedAt);`;
  const args = ["eval", "--cached-only", "--no-lock", script];
  const { env, folder, deno } = options;
  const importMs = Number(printed(await run(deno, args, { cwd: folder, env })));

  await using handler = await startFunction(options);
  // To warm it up.
  await load(handler.url, 1);
  const before = await cpuSeconds(handler.pid);
  const { requests, p99Ms } = await load(handler.url, 2);
  const seconds = await cpuSeconds(handler.pid) - before;
  return { perCpuSecond: requests / seconds, p99Ms, importMs };
}

/** Sends the same well-formed request over and over. Throws when a response is not a 200. */
async function load(url: URL, seconds: number) {
  // Not in `deno.lock`: `deno task` would download it and its 60 packages for everybody.
  const output = await npx(`autocannon@${VERSIONS.autocannon}`, [
    "--json",
    "--method=POST",
    `--body=${JSON.stringify(SEEDED)}`,
    "--connections=16",
    `--duration=${seconds}`,
    url.href,
  ]);
  const { errors, non2xx, requests, latency } = JSON.parse(printed(output));
  if (errors + non2xx > 0) {
    throw new Error(`${errors} errors, ${non2xx} other statuses`);
  }
  return { requests: Number(requests.total), p99Ms: Number(latency.p99) };
}

/** CPU time of a process's main thread so far. */
async function cpuSeconds(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return NaN;
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e9;
}

function printed({ success, stdout, stderr }: Output): string {
  if (success) return stdout;
  throw new Error(stderr);
}
