/** Unchanged lines before and after a change. */
const contextLines = 3;

/** Lines with their line ends. */
export const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];

function formatLine(sign: string, line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** A unified diff of two texts as one range of lines; empty if they are equal. `undefined` stands for a missing file. */
export function formatLineDiff(file: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return "";
  const [old, fresh] = [splitLines(before ?? ""), splitLines(after ?? "")];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const start = Math.max(0, head - contextLines);
  const oldEnd = Math.min(old.length, old.length - tail + contextLines);
  const freshEnd = Math.min(fresh.length, fresh.length - tail + contextLines);
  const range = (end: number) => `${end - start === 0 ? start : start + 1},${end - start}`;
  const shown = old.slice(start, oldEnd);
  const [changed, same] = [head - start, old.length - tail - start];
  const lines = [
    ...shown.slice(0, changed).map((line) => formatLine(" ", line)),
    ...shown.slice(changed, same).map((line) => formatLine("-", line)),
    ...fresh.slice(head, fresh.length - tail).map((line) => formatLine("+", line)),
    ...shown.slice(same).map((line) => formatLine(" ", line)),
  ];
  const name = (text: string | undefined) => (text === undefined ? "/dev/null" : file);
  return `--- ${name(before)}\n+++ ${name(after)}\n@@ -${range(oldEnd)} +${range(freshEnd)} @@\n${lines.join("")}`;
}
