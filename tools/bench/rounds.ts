import type { Name } from "./subjects.ts";

/** A benchmark: what it measures, and of what. */
export interface Bench {
  title: string;
  rounds: number;
  names: Name[];
  /** What the first figure of each is divided by. */
  baseline: Name;
  /** What the figures are. */
  figures: string[];
  /** Measures one of them once: gives the figures, in their order. */
  measure(name: Name): Promise<number[]>;
}

/**
 * Measures all of them in turn, round by round, and prints the medians. A ratio is the median of the
 * rounds' own, with their range: a machine is faster in one minute than in the next.
 */
export async function runRounds(
  { title, rounds, names, baseline, figures, measure }: Bench,
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
  const ratioOf = (name: Name) => {
    const ratios = measured.map(({ [name]: of, [baseline]: to }) =>
      (of?.[0] ?? NaN) / (to?.[0] ?? NaN)
    );
    const [middle, least, most] = [
      median(ratios),
      Math.min(...ratios),
      Math.max(...ratios),
    ].map((ratio) => ratio.toFixed(2));
    return `${middle} (${least} to ${most})`;
  };

  console.log(`\n${title}, medians of ${rounds} rounds`);
  console.table(Object.fromEntries(names.map((name) => [name, {
    ...Object.fromEntries(figures.map((what, figure) => [
      what,
      Number(medianOf(name, figure).toPrecision(4)),
    ])),
    [`of ${baseline}`]: ratioOf(name),
  }])));
}

function median(figures: number[]): number {
  const middle = Math.floor(figures.length / 2);
  return figures.toSorted((a, b) => a - b)[middle] ?? NaN;
}
