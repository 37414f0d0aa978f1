import type { Spread } from "./paired-rounds.ts";

/** Prints rows below headings as a Markdown table, ready for `docs/benchmarks.md`. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const print = (cells: readonly string[]) => {
    console.log(`| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`);
  };
  print(headings);
  print(widths.map((width) => "-".repeat(width)));
  for (const row of rows) print(row);
}

/** `1.12 (1.08-1.15)`: the median, and the middle half of the rounds. */
export function formatRatio({ median, lower, upper }: Spread): string {
  const digits = median < 0.2 ? 3 : median < 10 ? 2 : 0;
  return `${median.toFixed(digits)} (${lower.toFixed(digits)}-${upper.toFixed(digits)})`;
}

/** The ratio and its limit. */
export function formatAim({ median }: Spread, aim: number): string {
  return `${aim} ${median <= aim ? "met" : "MISSED"}`;
}

export const formatCount = (count: number): string => count.toLocaleString("en");
