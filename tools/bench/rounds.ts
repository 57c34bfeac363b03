import type { Name } from "./subjects.ts";

/** A benchmark: what it measures, and of what. */
export interface Bench {
  title: string;
  rounds: number;
  names: Name[];
  /** What the first figure of each is divided by. */
  baselines: Name[];
  /** What the figures are. */
  figures: string[];
  /** Measures one of them once: gives the figures, in their order. */
  measure(name: Name): Promise<number[]>;
}

/**
 * Measures all of them in turn, round by round, and prints the medians. A ratio is that of the same
 * round, because a machine is faster in one minute than in the next.
 */
export async function runRounds(
  { title, rounds, names, baselines, figures, measure }: Bench,
): Promise<void> {
  const measured: Record<string, number[]>[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`${title}, round ${round} of ${rounds} ...`);
    const results: Record<string, number[]> = {};
    for (const name of names) results[name] = await measure(name);
    measured.push(results);
  }
  const medianOf = (name: Name, figure: number) =>
    median(measured.map((results) => results[name]?.[figure] ?? NaN));
  const ratioOf = (name: Name, baseline: Name) =>
    median(
      measured.map(({ [name]: of, [baseline]: to }) =>
        (of?.[0] ?? NaN) / (to?.[0] ?? NaN)
      ),
    );

  console.log(`\n${title}, medians of ${rounds} rounds`);
  console.table(Object.fromEntries(names.map((name) => [name, {
    ...Object.fromEntries(figures.map((what, figure) => [
      what,
      Number(medianOf(name, figure).toPrecision(4)),
    ])),
    ...Object.fromEntries(baselines.map((baseline) => [
      `of ${baseline}`,
      Number(ratioOf(name, baseline).toFixed(2)),
    ])),
  }])));
}

function median(figures: number[]): number {
  const middle = Math.floor(figures.length / 2);
  return figures.toSorted((a, b) => a - b)[middle] ?? NaN;
}
