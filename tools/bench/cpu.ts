import { startFunction } from "../stack/function_process.ts";
import { load, startStub } from "./load.ts";
import { compared, type Subject, type Subjects } from "./subjects.ts";
import { median, printTable, ratio } from "./table.ts";

const ROUNDS = 9;
const WARM_UP_REQUESTS = 3_000;
const REQUESTS = 6_000;

/**
 * Measures the CPU time of a request: that of the main thread, over a fixed number of requests, in
 * a fresh process for each round. From run to run it is steady within 3 %, which requests per
 * second are not.
 */
export async function benchCpu(subjects: Subjects): Promise<void> {
  if (Deno.build.os !== "linux") {
    console.log("\nCPU per request: left out, because it is read from /proc.");
    return;
  }
  await using stub = await startStub(subjects);
  const results = compared(subjects).map((subject) => ({
    subject,
    rounds: [] as number[],
  }));
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`CPU per request, round ${round} of ${ROUNDS} ...`);
    for (const { subject, rounds } of results) {
      rounds.push(await cpuMicros(subject, subjects.deno, stub.env));
    }
  }

  const [limit, bare] = results.map(({ rounds }) => median(rounds));
  printTable(`CPU per request, medians of ${ROUNDS} rounds`, [
    ["", "µs", "limit ÷ this", "bare ÷ this"],
    ...results.map(({ subject, rounds }) => [
      subject.name,
      median(rounds).toFixed(1),
      ratio(limit, median(rounds)),
      ratio(bare, median(rounds)),
    ]),
  ]);
}

async function cpuMicros(
  { folder }: Subject,
  deno: string,
  env: Record<string, string>,
): Promise<number> {
  await using edgeFunction = await startFunction({ env, folder, deno });
  const { url, pid } = edgeFunction;
  await load(url, { amount: WARM_UP_REQUESTS });
  const before = await cpuNanos(pid);
  await load(url, { amount: REQUESTS });
  return (await cpuNanos(pid) - before) / REQUESTS / 1_000;
}

/** CPU time of a process's main thread so far, in nanoseconds. */
async function cpuNanos(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`);
  return Number(text.split(" ")[0]);
}
