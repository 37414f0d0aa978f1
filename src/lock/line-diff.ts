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
