import { startFunction } from "../stack/function_process.ts";
import { CONNECTIONS, type Load, load, startStub } from "./load.ts";
import { compared, type Subjects } from "./subjects.ts";
import { median, printTable, ratio } from "./table.ts";

const ROUNDS = 5;
const WARM_UP_S = 2;
const ROUND_S = 3;

/** Measures requests a second and latency, in interleaved rounds, against a Data API stub. */
export async function benchThroughput(subjects: Subjects): Promise<void> {
  const { deno } = subjects;
  await using running = new AsyncDisposableStack();
  const { env } = running.use(await startStub(subjects));

  const results: Result[] = [];
  for (const { name, folder } of compared(subjects)) {
    const { url } = running.use(await startFunction({ env, folder, deno }));
    await load(url, { duration: WARM_UP_S });
    results.push({ name, url, rounds: [] });
  }
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`Throughput, round ${round} of ${ROUNDS} ...`);
    for (const { url, rounds } of results) {
      rounds.push(await load(url, { duration: ROUND_S }));
    }
  }

  const rate = ({ rounds }: Result) => median(rounds.map(({ rate }) => rate));
  const [limit, bare] = results.map(rate);
  printTable(
    `Throughput and latency, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`,
    [
      ["", "requests/s", "of the limit", "of bare", "p50 ms", "p99 ms"],
      ...results.map((result) => [
        result.name,
        Math.round(rate(result)),
        ratio(rate(result), limit),
        ratio(rate(result), bare),
        median(result.rounds.map(({ p50 }) => p50)),
        median(result.rounds.map(({ p99 }) => p99)),
      ]),
    ],
  );
}

interface Result {
  name: string;
  url: URL;
  rounds: Load[];
}
