import { stripVTControlCharacters } from "node:util";
import { findHome } from "../files/user-folders.ts";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import { printable, shorten } from "../problems/text.ts";
import type { TextStyle } from "./command.ts";

const gap = "  ";
/** If the last column would be narrower, it moves to lines of its own. */
const narrowestColumn = 32;
const hangingIndent = 4;

/** Characters that take two columns of a terminal. */
const wide =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Emoji_Presentation}\\u3001-\\u303f\\uff01-\\uff60\\uffe0-\\uffe6]";
// Compiled on first use, because plain ASCII does not need it.
let isWide: RegExp | undefined;

/** The number of terminal columns that a text takes. Escape sequences take none. */
export function measureWidth(text: string): number {
  const visible = stripVTControlCharacters(text);
  if (/^[ -~]*$/.test(visible)) return visible.length;
  isWide ??= new RegExp(wide, "u");
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(visible)) width += isWide.test(segment) ? 2 : 1;
  return width;
}

/**
 * Wraps one line of text to `width` columns, at spaces and next to wide characters. All lines except the first are
 * indented. Longer words, such as paths, stay whole unless `breaksWords` is set, which breaks them after a slash if
 * possible. Commands in backticks always stay whole.
 */
export function wrap(text: string, width: number | undefined, indent = 0, breaksWords = false): string {
  if (width === undefined || measureWidth(text) <= width) return text;
  const word = breaksWords
    ? `(?:(?!${wide})[^ /]){0,${width - 1}}/|(?:(?!${wide})[^ /]){1,${width}}`
    : `(?:(?!${wide})[^ ])+`;
  const pieces = new RegExp(` *(?:\`[^\`]*\`[^ ]*|${wide}\\p{M}*|${word})`, "gu");
  const lines: string[] = [];
  let line = "";
  let column = 0;
  for (const [piece] of text.matchAll(pieces)) {
    const taken = measureWidth(piece);
    if (column > 0 && column + taken > width) {
      lines.push(line);
      line = `${" ".repeat(indent)}${piece.trimStart()}`;
      column = measureWidth(line);
    } else {
      line += piece;
      column += taken;
    }
  }
  return [...lines, line].join("\n");
}

const widestOf = (texts: readonly string[]) =>
  texts.reduce((widest, text) => Math.max(widest, measureWidth(text)), 0);

/**
 * Formats rows of cells in columns. To fit into `width`, it wraps the last column and, if that becomes too narrow, also the
 * widest of the others. If that is not enough, it puts the last column on lines of its own.
 */
export function formatColumns(
  rows: readonly (readonly string[])[],
  width: number | undefined,
  margin = 0,
): string {
  const columns = (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ""));
  const lastCells = columns.pop() ?? [];
  const widths = columns.map(widestOf);
  const startOf = () => widths.reduce((sum, one) => sum + one + gap.length, margin);
  const fits = width === undefined || startOf() + widestOf(lastCells) <= width;
  if (!fits && width - startOf() < narrowestColumn) {
    const widest = widths.indexOf(Math.max(...widths));
    const longestWord = widestOf((columns[widest] ?? []).flatMap((cell) => cell.split(" ")));
    if (width - startOf() + (widths[widest] ?? 0) - longestWord >= narrowestColumn) {
      widths[widest] = longestWord;
    }
  }
  const isBelow = !fits && width - startOf() < narrowestColumn;
  const indent = isBelow ? margin + hangingIndent : startOf();
  const room = fits ? undefined : Math.max(narrowestColumn, width - indent);
  const formatRow = (row: readonly string[]) => {
    const cells = widths.map((one, column) => wrap(row[column] ?? "", one).split("\n"));
    const last = wrap(row[widths.length] ?? "", room, 0, true).split("\n");
    const below = isBelow ? last.map((line) => " ".repeat(indent) + line) : [];
    const beside = isBelow ? [] : last;
    const height = Math.max(beside.length, ...cells.map((lines) => lines.length));
    const lines = Array.from({ length: height }, (_, index) => {
      const padded = cells.map((cell, column) => {
        const line = cell[index] ?? "";
        return line + " ".repeat((widths[column] ?? 0) - measureWidth(line)) + gap;
      });
      return " ".repeat(margin) + padded.join("") + (beside[index] ?? "");
    });
    return [...lines, ...below].map((line) => line.trimEnd()).filter((line) => line !== "");
  };
  return rows.flatMap(formatRow).join("\n");
}

/** Replaces the home folder with `~` at the start of every path in a text. */
export function abbreviateHome(text: string): string {
  const home = findHome();
  if (home === undefined || home.length < 2) return text;
  // `/home/you` is also a part of `/home/young` and `/backup/home/you`.
  return text
    .split(home)
    .reduce((before, after) =>
      /[\w./\\-]$/.test(before) || /^(?:[\w-]|\.\S)/.test(after)
        ? `${before}${home}${after}`
        : `${before}~${after}`,
    );
}

/** Cuts a long text from a pack, with a note that `--json` shows all of it. */
export function shortenForPeople(text: string, limit?: number): string {
  return shorten(text, limit, "; --json shows all");
}

/**
 * Formats rows under headings, with the last column wrapped to the terminal. Escapes unprintable characters in cells, which
 * may be text from packs.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { color, width }: TextStyle,
): string {
  const cells = rows.map((row) => row.map((cell) => printable(shortenForPeople(cell))));
  const paint = (heading: string) => (color ? `\u001b[2m${heading}\u001b[22m` : heading);
  return formatColumns([headings.map(paint), ...cells], width);
}

/** Counts the items of a pack by kind: `1 server, 3 tools`. */
export function countItems(pack: Readonly<Record<(typeof keyOfKind)[Kind], readonly unknown[]>>): string {
  const counts = kinds
    .map((kind) => ({ kind, count: pack[keyOfKind[kind]].length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${count === 1 ? kind : keyOfKind[kind]}`);
  return counts.join(", ") || "nothing";
}
