import type { ConfigDocument } from "./editing/config-document.ts";
import { maskSecrets } from "./mask-secrets.ts";

/** Unchanged lines before and after a change. */
const contextLines = 3;

/** Lines with their line ends. */
const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];

function formatLine(sign: string, line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** The lines in a range of a config, without secrets. */
function showLines(config: ConfigDocument | undefined, from: number, to: number, former?: ConfigDocument) {
  if (config === undefined) return [];
  const lines = splitLines(config.text);
  const lengthOf = (count: number) => lines.slice(0, count).join("").length;
  return splitLines(maskSecrets(config, [lengthOf(from), lengthOf(to)], former)).slice(from, to);
}

/**
 * A unified diff of two configs that differ in one range of lines, as after a splice; empty if they are equal. Shows no
 * secrets. `undefined` stands for a missing file.
 */
export function formatDiff(
  file: string,
  before: ConfigDocument | undefined,
  after: ConfigDocument | undefined,
): string {
  if (before?.text === after?.text) return "";
  const [old, fresh] = [splitLines(before?.text ?? ""), splitLines(after?.text ?? "")];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const start = Math.max(0, head - contextLines);
  const oldEnd = Math.min(old.length, old.length - tail + contextLines);
  const freshEnd = Math.min(fresh.length, fresh.length - tail + contextLines);
  const range = (end: number) => `${end - start === 0 ? start : start + 1},${end - start}`;
  const shown = showLines(before, start, oldEnd);
  const [changed, same] = [head - start, old.length - tail - start];
  const lines = [
    ...shown.slice(0, changed).map((line) => formatLine(" ", line)),
    ...shown.slice(changed, same).map((line) => formatLine("-", line)),
    ...showLines(after, head, fresh.length - tail, before).map((line) => formatLine("+", line)),
    ...shown.slice(same).map((line) => formatLine(" ", line)),
  ];
  const name = (config: ConfigDocument | undefined) => (config === undefined ? "/dev/null" : file);
  return `--- ${name(before)}\n+++ ${name(after)}\n@@ -${range(oldEnd)} +${range(freshEnd)} @@\n${lines.join("")}`;
}
