/** A replacement in a text. Offsets are in UTF-16 code units. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** Applies splices that do not overlap. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const sorted = [...splices].sort((a, b) => a.start - b.start || a.end - b.end);
  let result = "";
  let position = 0;
  for (const { start, end, text: inserted } of sorted) {
    result += text.slice(position, start) + inserted;
    position = Math.max(position, end);
  }
  return result + text.slice(position);
}

/** The line end that a text uses. */
export function findLineEnd(text: string): "\n" | "\r\n" {
  return /\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n";
}

/** The white space at the start of an offset's line. */
export function indentationAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

/** The end of an offset's line, before its line end. */
export function endOfLine(text: string, offset: number): number {
  const newline = text.indexOf("\n", offset);
  const end = newline < 0 ? text.length : newline;
  return end > offset && text[end - 1] === "\r" ? end - 1 : end;
}

/** The start of the line end before an offset if there is only white space between them; otherwise the offset itself. */
export function startOfBlankBefore(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && (text[start - 1] === " " || text[start - 1] === "\t")) start--;
  if (text[start - 1] !== "\n") return start;
  return text[start - 2] === "\r" ? start - 2 : start - 1;
}
