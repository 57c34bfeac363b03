import type { Name } from "./subjects.ts";

/** A benchmark: what it measures, and of what. */
export interface Bench {
  title: string;
  rounds: number;
  names: Name[];
  /** What the first figure of the others is divided by. */
  baselines: Name[];
  /** What the figures are. */
  figures: string[];
  /** Measures one of them once: gives the figures, in their order. */
  measure(name: Name): Promise<number[]>;
}

/** Measures all of them in turn, round by round, and prints the medians. */
export async function runRounds(
  { title, rounds, names, baselines, figures, measure }: Bench,
): Promise<void> {
  const measured = new Map(names.map((name) => [name, [] as number[][]]));
  for (let round = 1; round <= rounds; round++) {
    console.error(`${title}, round ${round} of ${rounds} ...`);
    for (const [name, results] of measured) results.push(await measure(name));
  }
  const medianOf = (name: Name, figure: number) =>
    median((measured.get(name) ?? []).map((result) => result[figure] ?? NaN));

  console.log(`\n${title}, medians of ${rounds} rounds`);
  console.table(Object.fromEntries(names.map((name) => [name, {
    ...Object.fromEntries(figures.map((what, figure) => [
      what,
      Number(medianOf(name, figure).toPrecision(4)),
    ])),
    ...Object.fromEntries(baselines.map((baseline) => [
      `of ${baseline}`,
      Number((medianOf(name, 0) / medianOf(baseline, 0)).toFixed(2)),
    ])),
  }])));
}

function median(figures: number[]): number {
  const middle = Math.floor(figures.length / 2);
  return figures.toSorted((a, b) => a - b)[middle] ?? NaN;
}
