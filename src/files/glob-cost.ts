// Upper bounds on the cost of untrusted glob patterns, determined before a library expands or compiles them.

const occurrences = (text: string, part: string) => text.split(part).length - 1;

/** fast-glob's limit on ranges. */
const longestRange = 1000;

/** The size of a range in braces; 1 if it is not a range. */
function rangeSize(from: string, to: string): number {
  if (from === "" || to === "") return 1;
  // Quotes and escapes are allowed in ranges.
  const [first, last] = [from, to].map((end) => end.replace(/["'`\\]/g, ""));
  if (first === undefined || last === undefined) return 1;
  const isNumeric = Number.isFinite(Number(first)) && Number.isFinite(Number(last));
  const [start, end] = isNumeric
    ? [Number(first), Number(last)]
    : [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
  const size = Math.abs(start - end) + 1;
  return size > longestRange ? Number.POSITIVE_INFINITY : size;
}

/** The number of patterns after brace expansion. */
export function countAlternatives(pattern: string): number {
  const groups = occurrences(pattern, "{");
  if (groups === 0) return 1;
  // The product is largest if the commas are distributed equally among the groups.
  let count = (1 + occurrences(pattern, ",") / groups) ** groups;
  for (const [, from = "", to = ""] of pattern.matchAll(/([^{},/.]*)\.\.([^{},/.]*)/g))
    count *= rangeSize(from, to);
  return count;
}

/** Expands braces, innermost first. */
function* writeOut(pattern: string): Generator<string> {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (group === null) yield pattern;
  else {
    const [before, after] = [pattern.slice(0, group.index), pattern.slice(group.index + group[0].length)];
    for (const alternative of group[1]?.split(",") ?? []) yield* writeOut(before + alternative + after);
  }
}

/** The number of ways in which `count` wildcards can divide `length` characters. */
function waysToShare(length: number, count: number): number {
  let ways = 1;
  for (let index = 1; index < count; index++) ways *= (length + index) / index;
  return ways;
}

/** Groups of plain words or of one class, such as `@(a|b)` or `+([a-z])`. Other groups count as the worst case. */
const plainGroup = /([@?!*+]?)\(([^()[\]{}*+?\\/]*|\[[^\][/]*\])\)([+*?]?)/g;

/** The properties of a pattern without braces that determine backtracking. */
interface Shape {
  /** The number of wildcards in each segment with more than one. */
  wildcards: number[];
  /** The number of `**` segments. */
  globstars: number;
  /** For groups: a factor, the number with variable length, and the bases of ambiguous repetitions. */
  factor: number;
  free: number;
  bases: number[];
}

function describeShape(pattern: string): Shape {
  const shape: Shape = { wildcards: [], globstars: 0, factor: 1, free: 0, bases: [] };
  const rest = pattern.replace(plainGroup, (_, kind: string, words: string, after: string) => {
    const alternatives = words.startsWith("[") ? [words] : words.split("|");
    shape.factor *= alternatives.length + 1;
    if (kind === "!") shape.free++;
    if (!"*+".includes(kind || " ") && !"*+".includes(after || " ")) return "";
    const beginnings = new Set(alternatives.map((word) => word.charAt(0)));
    if (beginnings.size === alternatives.length && !beginnings.has("")) shape.free++;
    else shape.bases.push(alternatives.length + 1);
    return "";
  });
  const nested = occurrences(rest, "(");
  // Remaining parentheses are nested or not closed. Without repetition or alternatives they are literal.
  if (nested > 0 && /\(.*[*+?|!@]/.test(pattern)) shape.bases.push(nested + occurrences(pattern, "|") + 1);
  for (const segment of rest.split("/")) {
    if (segment === "**") shape.globstars++;
    const wildcards = segment.match(/\*+|\+/g)?.length ?? 0;
    if (wildcards > 1) shape.wildcards.push(wildcards);
  }
  return shape;
}

function waysOf(
  { wildcards, globstars, factor, free, bases }: Shape,
  longest: number,
  depth: number,
): number {
  let ways = factor * longest ** free * waysToShare(depth, globstars + 1);
  for (const count of wildcards) ways *= waysToShare(longest, count);
  for (const base of bases) ways *= base ** longest;
  return ways;
}

/**
 * Returns a function for the maximum number of steps to match a path of at most `depth` segments with at most `longest`
 * characters each. A step reads a path once.
 */
export function measureGlob(pattern: string): (longest: number, depth: number) => number {
  const isQuoted = /["'`\\]/.test(pattern);
  const shapes = (isQuoted ? [pattern] : [...writeOut(pattern)]).map(describeShape);
  const times = isQuoted ? countAlternatives(pattern) : 1;
  return (longest, depth) =>
    shapes.reduce((sum, shape) => sum + times * waysOf(shape, Math.max(longest, 1), depth), 0);
}

/** The maximum number of steps to compile a pattern, which is read for each group and for each alternative. */
export function stepsToPrepare(pattern: string): number {
  const groups = occurrences(pattern, "{") + occurrences(pattern, "(");
  return pattern.length * (groups + countAlternatives(pattern));
}
