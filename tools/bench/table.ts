/** The middle one of some figures. */
export function median(figures: number[]): number {
  const middle = Math.floor(figures.length / 2);
  return figures.toSorted((a, b) => a - b)[middle] ?? NaN;
}

/** How many times the one is the other, with two decimals. */
export function ratio(one: number | undefined, other: number | undefined) {
  return ((one ?? NaN) / (other ?? NaN)).toFixed(2);
}

/** Prints rows as a Markdown table, the first one as its head. */
export function printTable(title: string, rows: (string | number)[][]): void {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) =>
    Math.max(...rows.map((row) => `${row[column]}`.length))
  );
  const pad = (cell: string | number, column: number) =>
    column === 0
      ? `${cell}`.padEnd(widths[column] ?? 0)
      : `${cell}`.padStart(widths[column] ?? 0);
  const line = (row: (string | number)[]) => `| ${row.map(pad).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`
  );
  console.log(
    [`\n${title}\n`, ...[head, rule, ...body].map(line)].join("\n"),
  );
}
