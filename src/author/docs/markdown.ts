import { printable } from "../../problems/text.ts";

/** A text as one line of Markdown in which neither Markdown nor HTML has a meaning. */
export function escapeText(text: string): string {
  return (
    printable(text)
      .trim()
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replace(/[\\`*_[\]>|~]/g, "\\$&")
      // The start of a list, a heading, or the line below a heading.
      .replace(/^(?:[-+=#]|\d+(?=[.)]))/, (start) => (/^\d/.test(start) ? start : `\\${start}`))
      .replace(/^(\d+)([.)])/, "$1\\$2")
      // GitHub makes links of bare addresses; these are the author's words, not the reader's.
      .replace(/\b(https?|ftp):\/\//gi, "$1:&#47;&#47;")
      .replace(/\bwww\./gi, "www&#46;")
  );
}

/** Paragraphs of a longer text. */
export const escapeParagraphs = (text: string): string[] =>
  text
    .split(/\r?\n[ \t]*(?:\r?\n[ \t]*)+/)
    .map(escapeText)
    .filter((paragraph) => paragraph !== "");

/** A text as code. In a cell of a table, `|` is escaped even in code. */
export function formatCode(text: string): string {
  const shown = printable(text).replaceAll("|", "\\|");
  if (shown === "") return "";
  const runs = shown.match(/`+/g) ?? [];
  const longest = runs.reduce((most, run) => Math.max(most, run.length), 0);
  const fence = "`".repeat(longest + 1);
  const needsSpace = /^[` ]|[` ]$/.test(shown);
  return needsSpace ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}

export const formatHeading = (level: number, text: string): string => `${"#".repeat(level)} ${text}`;

/** Cells are Markdown already. Without rows, nothing. */
export function formatMarkdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (rows.length === 0) return [];
  const formatRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [[formatRow(headings), formatRow(headings.map(() => "---")), ...rows.map(formatRow)].join("\n")];
}
