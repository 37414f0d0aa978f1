import { printable } from "../problems/text.ts";
import type { TextStyle } from "./command.ts";
import { shortenForPeople } from "./shorten-for-people.ts";

const gap = "  ";

/** A text on one line, safe for a terminal, cut to a width. */
function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/**
 * Rows under headings, each column as wide as its widest cell, the last one cut to the terminal. Cells may be text
 * from packs: what does not print is escaped.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { color, width }: TextStyle,
): string {
  const cells = rows.map((row) => row.map((cell) => printable(shortenForPeople(cell))));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => [...(row[column] ?? "")].length)),
  );
  const formatRow = (row: readonly string[]) => {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(gap);
    return (width === undefined ? line : cut(line, width)).trimEnd();
  };
  const head = formatRow(headings);
  return [color ? `\u001b[2m${head}\u001b[22m` : head, ...cells.map(formatRow)].join("\n");
}
