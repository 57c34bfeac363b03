import { SEEDED } from "../project.ts";
import { npx } from "../command.ts";
import { startFunction } from "../stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../stack/local_service.ts";
import { VERSIONS } from "../versions.ts";
import { runRounds } from "./rounds.ts";
import type { Name, Subjects } from "./subjects.ts";

const CONNECTIONS = 16;
const WARM_UP_S = 2;
const ROUND_S = 2;

/** The forms of the Data API's response, and what is measured with each. */
const FORMS: Record<string, Name[]> = {
  compressed: ["limit", "bare", "source", "bundle", "scaffold"],
  chunked: ["bare", "source", "bundle"],
  plain: ["bare", "source", "bundle"],
};

/**
 * Measures CPU time, throughput and latency under load, in a fresh process for each round. The CPU
 * time is that of the main thread, which varies less from run to run than requests per second do.
 * Only Linux reports it.
 */
export async function benchLoad({ deno, folders }: Subjects): Promise<void> {
  await using stub = await startFunction({
    env: {},
    folder: folders.stub,
    deno,
  });
  for (const [form, names] of Object.entries(FORMS)) {
    const API_URL = `${stub.url.origin}/${form}`;
    const env = platformEnv({ ...LOCAL_SERVICE, API_URL });
    await runRounds({
      title: `Load, ${CONNECTIONS} connections, Data API ${form}`,
      rounds: 5,
      names,
      baseline: "bare",
      figures: ["requests per CPU second", "requests/s", "p50 ms", "p99 ms"],
      async measure(name) {
        await using edgeFunction = await startFunction({
          env,
          folder: folders[name],
          deno,
        });
        const { url, pid } = edgeFunction;
        await load(url, WARM_UP_S);
        const before = await cpuSeconds(pid);
        const { requests, duration, latency } = await load(url, ROUND_S);
        return [
          requests.total / (await cpuSeconds(pid) - before),
          requests.total / duration,
          latency.p50,
          latency.p99,
        ];
      },
    });
  }
}

/** What autocannon measures: seconds, and milliseconds. */
interface Load {
  duration: number;
  requests: { total: number };
  latency: { p50: number; p99: number };
}

/** Sends the same well-formed request over and over. Throws when a response is not a 200. */
async function load(url: URL, seconds: number): Promise<Load> {
  // Not in `deno.lock`: `deno task` would download it and its 60 packages for everybody.
  const { success, stdout, stderr } = await npx(
    `autocannon@${VERSIONS.autocannon}`,
    [
      "--json",
      "--method=POST",
      `--body=${JSON.stringify(SEEDED)}`,
      `--connections=${CONNECTIONS}`,
      `--duration=${seconds}`,
      url.href,
    ],
  );
  if (!success) throw new Error(stderr);
  const result = JSON.parse(stdout);
  if (result.errors === 0 && result.non2xx === 0) return result;
  throw new Error(`${result.errors} errors, ${result.non2xx} other statuses`);
}

/** CPU time of a process's main thread so far, in seconds. */
async function cpuSeconds(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return NaN;
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e9;
}
