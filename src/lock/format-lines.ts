import { printable } from "../problems/index.ts";
import { formatCount, longestText, shorten } from "../problems/text.ts";
import { formatJson } from "./canonical-json.ts";
import type { Json } from "./types.ts";

/** A line of a difference: removed, added, or in both. */
export interface DiffLine {
  sign: "-" | "+" | " ";
  line: string;
}

/** Limit on the table of common lines. Larger differences are shown as removed and added. */
const maximumCells = 250_000;

const signed = (sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] =>
  lines.map((line) => ({ sign, line }));

/** Compares lines that differ in the first and in the last one. */
function diffMiddle(from: readonly string[], to: readonly string[]): DiffLine[] {
  const [height, width] = [from.length, to.length];
  if (height * width > maximumCells) return [...signed("-", from), ...signed("+", to)];
  // Lengths of the longest common subsequences of what follows.
  const row = width + 1;
  const common = new Uint32Array((height + 1) * row);
  const at = (index: number) => common[index] ?? 0;
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      const here = i * row + j;
      common[here] = from[i] === to[j] ? at(here + row + 1) + 1 : Math.max(at(here + row), at(here + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < height && j < width) {
    const [old = "", now = ""] = [from[i], to[j]];
    const here = i * row + j;
    if (old === now) {
      lines.push({ sign: " ", line: old });
      i++;
      j++;
    } else if (at(here + row) >= at(here + 1)) {
      lines.push({ sign: "-", line: old });
      i++;
    } else {
      lines.push({ sign: "+", line: now });
      j++;
    }
  }
  return [...lines, ...signed("-", from.slice(i)), ...signed("+", to.slice(j))];
}

/** The difference of two lists of lines. */
export function diffLines(from: readonly string[], to: readonly string[]): DiffLine[] {
  const most = Math.min(from.length, to.length);
  let start = 0;
  while (start < most && from[start] === to[start]) start++;
  let end = 0;
  while (end < most - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  return [
    ...signed(" ", from.slice(0, start)),
    ...diffMiddle(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...signed(" ", from.slice(from.length - end)),
  ];
}

// Texts of packs for people. Every line is cut, and nothing is hidden by blanks or invisible characters.

/** Limit on the characters of a line. Long enough for what is approved to be read, because the rest is approved too. */
const longestLine = 2000;
/** Limit on the lines of one value. */
const mostLines = 400;
/** Limit on the removed lines of one change. */
const mostRemoved = 15;
/** Unchanged lines around a change. */
const contextLines = 1;
/** Characters before and after the difference of two long lines. */
const lead = 40;

const plural = (count: number, word: string) => `${formatCount(count)} ${word}${count === 1 ? "" : "s"}`;

/** A text of a pack on one line. */
export function formatLine(text: string, limit: number = longestLine): string {
  const blanks = /[\t \u00a0\u2000-\u200a\u2800\u3000]{24,}/g;
  return printable(
    shorten(
      text.replace(blanks, (run) => ` [${plural(run.length, "blank")}] `),
      limit,
    ),
  );
}

/** Words of a command, in full but for absurd lengths. */
export const formatFully = (text: string): string => formatLine(text, longestText);

/** A value on one line. */
export const formatValue = (value: Json): string => formatLine(formatJson(value));

const isText = (value: Json[]): value is string[] => value.every((line) => typeof line === "string");

/** The lines of a value: of a text itself, of others as JSON. */
export function linesOf(value: Json | undefined, isProse: boolean): string[] {
  if (value === undefined) return [];
  if (typeof value === "string") return value.split("\n");
  if (Array.isArray(value)) {
    if (isProse && isText(value)) return value;
    if (value.length > 0) return value.flatMap((entry) => formatJson(entry, "").split("\n"));
  }
  const json = formatJson(value);
  return json.length <= 80 ? [json] : formatJson(value, "").split("\n");
}

/** Whether a code unit is the second half of a character. */
const isLowSurrogate = (line: string, at: number) => (line.charCodeAt(at) & 0xfc00) === 0xdc00;

/** A line, cut before and after what differs from another one if one of them is long. */
function formatLineBeside(line: string, other: string): string {
  const blanks = line.length - line.trimEnd().length;
  if (line.trimEnd() === other.trimEnd() && blanks > 0) {
    return `${formatLine(line.trimEnd())} [${plural(blanks, "blank")}]`;
  }
  if (line.length <= longestLine && other.length <= longestLine) return formatLine(line);
  const most = Math.min(line.length, other.length);
  let head = 0;
  while (head < most && line.charCodeAt(head) === other.charCodeAt(head)) head++;
  let tail = 0;
  while (
    tail < most - head &&
    line.charCodeAt(line.length - 1 - tail) === other.charCodeAt(other.length - 1 - tail)
  )
    tail++;
  let start = Math.max(0, head - lead);
  if (isLowSurrogate(line, start)) start--;
  const limit = Math.min(longestLine, line.length - tail + lead - start);
  const shown = formatLine(line.slice(start), limit);
  return start === 0 ? shown : `(${plural(start, "character")}) …${shown}`;
}

const isBlank = (line: string) => /^[\s\u2800]*$/.test(line);

/** The length of the run at an index of lines for which this is true. */
function runAt(lines: readonly DiffLine[], start: number, belongs: (line: DiffLine) => boolean): DiffLine[] {
  let end = start;
  for (let line = lines[end]; line !== undefined && belongs(line); line = lines[++end]);
  return lines.slice(start, end);
}

/**
 * Lines up to a limit, with blank ones in a row as one, so that what follows them is seen. `format` gets a line and its
 * index; `more` is what the omitted ones are called.
 */
function formatRun(
  lines: readonly DiffLine[],
  { limit, more }: { limit: number; more: string },
  format: (line: string, index: number) => string,
): string[] {
  const shown: string[] = [];
  let index = 0;
  while (index < lines.length && shown.length < limit) {
    const { sign, line } = lines[index] as DiffLine;
    const blank = runAt(lines, index, (one) => isBlank(one.line)).length;
    shown.push(blank > 3 ? `${sign} [${plural(blank, "blank line")}]` : `${sign} ${format(line, index)}`);
    index += blank > 3 ? blank : 1;
  }
  const rest = lines.length - index;
  return rest === 0 ? shown : [...shown, `${lines[0]?.sign} … (${plural(rest, more)})`];
}

/** Lines that replace others, each cut where it differs if there are as many. Few of those that are removed are shown. */
function formatReplaced(removed: readonly DiffLine[], added: readonly DiffLine[]): string[] {
  const isPaired = removed.length === added.length;
  const beside = (others: readonly DiffLine[]) => (line: string, index: number) => {
    const other = isPaired ? others[index] : undefined;
    return other === undefined ? formatLine(line) : formatLineBeside(line, other.line);
  };
  return [
    ...formatRun(removed, { limit: mostRemoved, more: "more removed line" }, beside(added)),
    ...formatRun(added, { limit: mostLines, more: "more line" }, beside(removed)),
  ];
}

function formatSame(lines: readonly DiffLine[], isFirst: boolean, isLast: boolean): string[] {
  const show = (some: readonly DiffLine[]) => some.map(({ line }) => `  ${formatLine(line)}`);
  const head = isFirst ? 0 : contextLines;
  const tail = isLast ? 0 : contextLines;
  const omitted = lines.length - head - tail;
  if (omitted <= 1) return show(lines);
  return [
    ...show(lines.slice(0, head)),
    `  … ${plural(omitted, "unchanged line")}`,
    ...show(lines.slice(lines.length - tail)),
  ];
}

/** The difference of two values' lines, with `-` and `+`. */
export function formatLineChanges(from: readonly string[], to: readonly string[]): string[] {
  const lines = diffLines(from, to);
  const shown: string[] = [];
  let index = 0;
  while (index < lines.length && shown.length < mostLines) {
    const same = runAt(lines, index, ({ sign }) => sign === " ");
    shown.push(...formatSame(same, index === 0, index + same.length === lines.length));
    index += same.length;
    const removed = runAt(lines, index, ({ sign }) => sign === "-");
    const added = runAt(lines, index + removed.length, ({ sign }) => sign === "+");
    shown.push(...formatReplaced(removed, added));
    index += removed.length + added.length;
  }
  const rest = lines.length - index;
  return rest === 0 ? shown : [...shown, `… (${plural(rest, "more line")})`];
}

/** A text as it is, each line after a bar. */
export function formatText(lines: readonly string[]): string[] {
  const unchanged = lines.map((line): DiffLine => ({ sign: " ", line }));
  const shown = formatRun(unchanged, { limit: mostLines, more: "more line" }, (line) => formatLine(line));
  return shown.map((line) => `| ${line.slice(2)}`);
}
