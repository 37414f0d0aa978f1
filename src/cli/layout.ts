import { stripVTControlCharacters } from "node:util";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import { countOf, printable, shorten } from "../problems/text.ts";
import type { TextStyle } from "./command.ts";

/** If the last column would be narrower, its lines are longer than the terminal. */
const narrowestColumn = 20;

/** Escape sequences show no characters. */
const measureWidth = (text: string): number => stripVTControlCharacters(text).length;

/**
 * Wraps one line of text to `width` columns at spaces. All lines except the first are indented. Longer words, such as paths,
 * and commands in backticks stay whole.
 */
export function wrap(text: string, width: number | undefined, indent = 0): string {
  if (width === undefined || measureWidth(text) <= width) return text;
  const lines: string[] = [];
  let line = "";
  for (const [piece] of text.matchAll(/ *(?:`[^`]*`[^ ]*|[^ ]+)/g)) {
    if (line !== "" && measureWidth(line + piece) > width) {
      lines.push(line);
      line = `${" ".repeat(indent)}${piece.trimStart()}`;
    } else line += piece;
  }
  return [...lines, line].join("\n");
}

/** The last column is wrapped to fit into `width`. */
export function formatColumns(rows: readonly (readonly string[])[], width: number | undefined): string {
  const widths = (rows[0] ?? []).slice(0, -1).map((_, column) => {
    return rows.reduce((widest, row) => Math.max(widest, measureWidth(row[column] ?? "")), 0);
  });
  const start = widths.reduce((sum, one) => sum + one + 2, 0);
  const room = width && Math.max(narrowestColumn, width - start);
  const formatRow = (row: readonly string[]) => {
    const cells = widths.map((one, column) => {
      const cell = row[column] ?? "";
      return `${cell}${" ".repeat(one - measureWidth(cell) + 2)}`;
    });
    const last = wrap(row[widths.length] ?? "", room).replaceAll("\n", `\n${" ".repeat(start)}`);
    return `${cells.join("")}${last}`.trimEnd();
  };
  return rows.map(formatRow).join("\n");
}

export function shortenForPeople(text: string, limit?: number): string {
  return shorten(text, limit, "; --json shows all");
}

/** Escapes unprintable characters in cells, which may be text from packs. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { color, width }: TextStyle,
): string {
  const cells = rows.map((row) => row.map((cell) => printable(shortenForPeople(cell))));
  const paint = (heading: string) => (color ? `\u001b[2m${heading}\u001b[22m` : heading);
  return formatColumns([headings.map(paint), ...cells], width);
}

/** For example `1 server, 3 tools`. */
export function countItems(pack: Readonly<Record<(typeof keyOfKind)[Kind], readonly unknown[]>>): string {
  const counts = kinds.map((kind) => ({ kind, count: pack[keyOfKind[kind]].length }));
  const shown = counts.filter(({ count }) => count > 0).map(({ kind, count }) => countOf(count, kind));
  return shown.join(", ") || "nothing";
}
