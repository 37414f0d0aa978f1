import { printable } from "../../problems/text.ts";

/** Longer lines, such as minified JSON, are cut around the column. */
const maximumWidth = 100;
const minimumWidth = 20;
const linesBefore = 1;

function expandTabs(text: string): string {
  return text.replaceAll("\t", "  ");
}

/**
 * A line of a text, the line before it, and a caret below the column. `line` and `column` count from 1. Unprintable
 * characters are escaped. `width`: columns of the terminal. Returns "" if the text has no such line.
 */
export function formatCodeFrame(
  text: string,
  line: number,
  column: number,
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = text.split(/\r\n|\r|\n/);
  const offending = lines[line - 1];
  if (offending === undefined) return "";
  const gutter = String(line).length;
  const room = Math.max(minimumWidth, Math.min(maximumWidth, width - gutter - "  >  | ".length));
  const start = Math.max(0, column - 1 - Math.floor(room / 2));
  const show = (content: string) => printable(expandTabs(content.slice(start, start + room)));
  const frame: string[] = [];
  for (let number = Math.max(1, line - linesBefore); number <= line; number++) {
    const mark = number === line ? ">" : " ";
    frame.push(`${mark} ${String(number).padStart(gutter)} | ${show(lines[number - 1] ?? "")}`.trimEnd());
  }
  const before = printable(expandTabs(offending.slice(start, column - 1)));
  frame.push(`  ${" ".repeat(gutter)} | ${" ".repeat([...before].length)}^`);
  return frame.map((row) => `  ${row}`).join("\n");
}
