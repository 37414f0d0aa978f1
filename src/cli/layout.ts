import { homedir } from "node:os";
import { stripVTControlCharacters } from "node:util";

const gap = "  ";
/** With less room than this, the last column moves to lines of its own. */
const narrowestColumn = 24;
const hangingIndent = 4;

/** Characters that take two columns of a terminal. */
const wide =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Emoji_Presentation}\\u3001-\\u303f\\uff01-\\uff60\\uffe0-\\uffe6]";
// Made on the first use: text that is plain ASCII needs neither.
let isWide: RegExp | undefined;
let pieces: RegExp | undefined;

/** How many columns of a terminal a text takes. Escape sequences take none. */
export function measureWidth(text: string): number {
  const visible = stripVTControlCharacters(text);
  if (/^[ -~]*$/.test(visible)) return visible.length;
  isWide ??= new RegExp(wide, "u");
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(visible)) width += isWide.test(segment) ? 2 : 1;
  return width;
}

/**
 * One line of text as several of at most `width` columns, broken at spaces and beside wide characters; all but the
 * first are indented. Longer words, and commands in backticks, stay whole, so that they can be copied.
 */
export function wrap(text: string, width: number | undefined, indent = 0): string {
  if (width === undefined || measureWidth(text) <= width) return text;
  pieces ??= new RegExp(` *(?:\`[^\`]*\`[^ ]*|${wide}\\p{M}*|(?:(?!${wide})[^ ])+)`, "gu");
  const lines: string[] = [];
  let line = "";
  let column = 0;
  for (const [piece] of text.matchAll(pieces)) {
    const length = measureWidth(piece);
    if (column > 0 && column + length > width) {
      lines.push(line);
      const word = piece.trimStart();
      line = `${" ".repeat(indent)}${word}`;
      column = indent + measureWidth(word);
    } else {
      line += piece;
      column += length;
    }
  }
  return [...lines, line].join("\n");
}

/** Rows of cells, each column as wide as its widest cell. The last column is wrapped to `width`. */
export function formatColumns(
  rows: readonly (readonly string[])[],
  width: number | undefined,
  margin = 0,
): string {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    rows.reduce((widest, row) => Math.max(widest, measureWidth(row[column] ?? "")), 0),
  );
  const widest = widths.pop() ?? 0;
  const start = widths.reduce((sum, one) => sum + one + gap.length, margin);
  const isBelow = width !== undefined && start + widest > width && width - start < narrowestColumn;
  const indent = isBelow ? margin + hangingIndent : start;
  const pad = (cell: string, column: number) =>
    `${cell}${" ".repeat((widths[column] ?? 0) - measureWidth(cell))}${gap}`;
  const formatRow = (row: readonly string[]) => {
    const before = `${" ".repeat(margin)}${row.slice(0, -1).map(pad).join("")}`;
    const room = width === undefined ? undefined : width - indent;
    const lines = wrap(row.at(-1) ?? "", room).split("\n");
    const [first = "", ...rest] = isBelow ? ["", ...lines] : lines;
    return [`${before}${first}`, ...rest.map((line) => `${" ".repeat(indent)}${line}`)]
      .map((line) => line.trimEnd())
      .filter((line, index) => index === 0 || line !== "")
      .join("\n");
  };
  return rows.map(formatRow).join("\n");
}

/** The text with `~` for the home folder wherever a path in it begins with that. */
export function abbreviateHome(text: string): string {
  const home = homedir();
  if (home.length < 2) return text;
  // `/home/you` also begins `/home/young` and ends `/backup/home/you`.
  return text
    .split(home)
    .reduce((before, after) =>
      /[\w./\\-]$/.test(before) || /^(?:[\w-]|\.\S)/.test(after)
        ? `${before}${home}${after}`
        : `${before}~${after}`,
    );
}
