import autocannon from "autocannon";
import { startFunction } from "../stack/function_process.ts";
import { platformEnv } from "../stack/stack.ts";
import type { Subjects } from "./subjects.ts";
import { median, printTable } from "./table.ts";

const CONNECTIONS = 16;
const ROUNDS = 5;
const WARM_UP_S = 2;
const ROUND_S = 3;

/** Measures requests a second and latency, in interleaved rounds, against a Data API stub. */
export async function benchThroughput(subjects: Subjects): Promise<void> {
  const { deno } = subjects;
  const measured = [
    subjects.limit,
    subjects.bare,
    subjects.source,
    subjects.bundle,
    subjects.scaffold,
  ];
  await using running = new AsyncDisposableStack();
  const stub = running.use(
    await startFunction({ env: {}, folder: subjects.stub.folder, deno }),
  );
  const env = platformEnv({
    API_URL: stub.url.origin,
    PUBLISHABLE_KEY: "sb_publishable_bench",
    SECRET_KEY: "sb_secret_bench",
  });

  const results: Result[] = [];
  for (const { name, folder } of measured) {
    const { url } = running.use(await startFunction({ env, folder, deno }));
    await load(url, WARM_UP_S);
    results.push({ name, url, rounds: [] });
  }
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`Throughput, round ${round} of ${ROUNDS} ...`);
    for (const { url, rounds } of results) {
      rounds.push(await load(url, ROUND_S));
    }
  }

  const rate = (index: number) =>
    median(results[index].rounds.map((round) => round.rate));
  printTable(
    `Throughput and latency, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`,
    [
      ["", "requests/s", "of the limit", "of bare", "p50 ms", "p99 ms"],
      ...results.map(({ name, rounds }, index) => [
        name,
        Math.round(rate(index)),
        (rate(index) / rate(0)).toFixed(2),
        (rate(index) / rate(1)).toFixed(2),
        median(rounds.map((round) => round.p50)),
        median(rounds.map((round) => round.p99)),
      ]),
    ],
  );
}

interface Result {
  name: string;
  url: URL;
  rounds: Round[];
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
}

async function load(url: URL, duration: number): Promise<Round> {
  const result = await autocannon({
    url: url.href,
    method: "POST",
    body: JSON.stringify({
      username: "Zoë Brückner#4821",
      project_id: "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4",
    }),
    connections: CONNECTIONS,
    duration,
  });
  if (result.errors > 0 || result.non2xx > 0) {
    throw new Error(`${result.errors} errors, ${result.non2xx} other statuses`);
  }
  return {
    rate: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}
