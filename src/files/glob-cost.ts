// What glob patterns of others may cost, counted before a library expands them or makes regular expressions of them.
// All of it errs upwards: a library may do less, never more.

const occurrences = (text: string, part: string) => text.split(part).length - 1;

/** What fast-glob writes out; it throws at a longer one. */
const longestRange = 1000;

/** The numbers or letters of a range in braces, as far as it may be one. */
function rangeSize(from: string, to: string): number {
  if (from === "" || to === "") return 1;
  // Quoted or escaped, it may still be a range.
  const [first, last] = [from, to].map((end) => end.replace(/["'`\\]/g, ""));
  if (first === undefined || last === undefined) return 1;
  const isNumeric = Number.isFinite(Number(first)) && Number.isFinite(Number(last));
  const [start, end] = isNumeric
    ? [Number(first), Number(last)]
    : [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
  const size = Math.abs(start - end) + 1;
  return size > longestRange ? Number.POSITIVE_INFINITY : size;
}

/** How many patterns one becomes when its braces are written out. */
export function countAlternatives(pattern: string): number {
  const groups = occurrences(pattern, "{");
  if (groups === 0) return 1;
  // However the commas are spread over the groups, there are never more than if each had as many.
  let count = (1 + occurrences(pattern, ",") / groups) ** groups;
  for (const [, from = "", to = ""] of pattern.matchAll(/([^{},/.]*)\.\.([^{},/.]*)/g))
    count *= rangeSize(from, to);
  return count;
}

/** Alternatives in braces written out, innermost first. */
function* writeOut(pattern: string): Generator<string> {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (group === null) yield pattern;
  else {
    const [before, after] = [pattern.slice(0, group.index), pattern.slice(group.index + group[0].length)];
    for (const alternative of group[1]?.split(",") ?? []) yield* writeOut(before + alternative + after);
  }
}

/** In how many ways `count` wildcards can share `length` characters, where the last has no choice. */
function waysToShare(length: number, count: number): number {
  let ways = 1;
  for (let index = 1; index < count; index++) ways *= (length + index) / index;
  return ways;
}

/** Groups of plain words or of one class, as `@(a|b)` or `+([a-z])`; others are measured as the worst they may be. */
const plainGroup = /([@?!*+]?)\(([^()[\]{}*+?\\/]*|\[[^\][/]*\])\)([+*?]?)/g;

/** One pattern without braces, in what decides how often a matcher may have to try again. */
interface Shape {
  /** Wildcards of each segment that has more than one. */
  wildcards: number[];
  /** Segments that stand for any number of folders. */
  globstars: number;
  /** Ways of groups: a factor, how many may match any length, and the base of each whose repetition may be split anyhow. */
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
  // Parentheses that are left hold others, or do not close. Without anything to repeat or to choose they are text.
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
 * Measures a pattern: how many steps matching a path may take whose segments have at most `longest` characters and
 * number at most `depth`. A step reads a path once.
 */
export function measureGlob(pattern: string): (longest: number, depth: number) => number {
  const isQuoted = /["'`\\]/.test(pattern);
  const shapes = (isQuoted ? [pattern] : [...writeOut(pattern)]).map(describeShape);
  const times = isQuoted ? countAlternatives(pattern) : 1;
  return (longest, depth) =>
    shapes.reduce((sum, shape) => sum + times * waysOf(shape, Math.max(longest, 1), depth), 0);
}

/** Steps that it may take to make a matcher of a pattern: its text is gone through for each group, and for each alternative. */
export function stepsToPrepare(pattern: string): number {
  const groups = occurrences(pattern, "{") + occurrences(pattern, "(");
  return pattern.length * (groups + countAlternatives(pattern));
}
