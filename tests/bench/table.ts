/** The middle one of some figures. */
export function median(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
}

/** Prints rows as a Markdown table, the first one as its head. */
export function printTable(title: string, rows: (string | number)[][]): void {
  const widths = rows[0].map((_, column) =>
    Math.max(...rows.map((row) => `${row[column]}`.length))
  );
  const line = (row: (string | number)[]) =>
    `| ${
      row.map((cell, column) =>
        column === 0
          ? `${cell}`.padEnd(widths[column])
          : `${cell}`.padStart(widths[column])
      ).join(" | ")
    } |`;
  const [head, ...body] = rows;
  const rule = `| ${
    widths.map((width, column) =>
      column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`
    ).join(" | ")
  } |`;
  console.log([`\n${title}\n`, line(head), rule, ...body.map(line)].join("\n"));
}
