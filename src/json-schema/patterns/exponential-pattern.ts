// A regular expression takes exponential time if, inside a repetition, one string leads back to the same position in two
// ways: each further copy of the string doubles the number of paths to try before the match fails.
import { PatternError, type PatternPart, parsePattern } from "./parse-pattern.ts";
import { createAutomaton, type PatternAutomaton } from "./pattern-automaton.ts";

/** Limit on steps, after which a pattern counts as unsafe: with this many overlapping positions it is ambiguous. */
const maximumSteps = 200_000;

/** The parts of a pattern that are matched independently: the whole pattern and lookarounds. */
function listWholes(part: PatternPart): PatternPart[] {
  const wholes = [part];
  const pending: PatternPart[] = [part];
  for (const one of pending) {
    if (one.type === "sequence" || one.type === "choice") pending.push(...one.parts);
    else if (one.type === "repeat") pending.push(one.part);
    else if (one.type === "aside" && one.part !== undefined) {
      wholes.push(one.part);
      pending.push(one.part);
    }
  }
  return wholes;
}

/** Characters that distinguish the classes of a pattern. */
function sampleCharacters(pattern: string): string[] {
  const codePoints = new Set<number>();
  for (let codePoint = 0; codePoint < 0x100; codePoint++) codePoints.add(codePoint);
  for (const character of pattern) codePoints.add(character.codePointAt(0) ?? 0);
  for (const [, hex = ""] of pattern.matchAll(/\\[ux]\{?([0-9a-fA-F]{2,6})/g))
    codePoints.add(Number.parseInt(hex, 16));
  // Classes by property need samples of every script.
  const stride = /\\p/i.test(pattern) ? 0x35 : 0x1001;
  for (let codePoint = 0x100; codePoint < 0x20000; codePoint += stride) codePoints.add(codePoint);
  return [...codePoints].filter((codePoint) => codePoint < 0x110000).map((one) => String.fromCodePoint(one));
}

/** Returns a function that tells whether two positions can match the same character. */
function createOverlaps({ sources }: PatternAutomaton, pattern: string): (a: number, b: number) => boolean {
  const samples = sampleCharacters(pattern);
  // The samples that each source matches, as bits.
  const takenBy = new Map<string, bigint>();
  for (const source of new Set(sources)) {
    // Matching one character with one class is fast.
    const expression = new RegExp(`^${source}$`, "su");
    const bits = samples.map((character) => (expression.test(character) ? "1" : "0"));
    takenBy.set(source, BigInt(`0b${bits.join("")}`));
  }
  const taken = sources.map((source) => takenBy.get(source) ?? 0n);
  return (a, b) => sources[a] === sources[b] || ((taken[a] ?? 0n) & (taken[b] ?? 0n)) !== 0n;
}

function reach(starts: Iterable<number>, next: (from: number) => Iterable<number>): Set<number> {
  const reached = new Set(starts);
  for (const from of reached) for (const to of next(from)) reached.add(to);
  return reached;
}

/** The groups of positions that repetitions visit (strongly connected components). */
function findRepeatedGroups({ follow }: PatternAutomaton): Set<number>[] {
  const before: number[][] = follow.map(() => []);
  for (const [from, ways] of follow.entries()) for (const to of ways.keys()) before[to]?.push(from);
  const groups: Set<number>[] = [];
  const seen = new Set<number>();
  for (const position of follow.keys()) {
    if (seen.has(position)) continue;
    const after = reach([position], (from) => follow[from]?.keys() ?? []);
    const group = reach([position], (to) => (before[to] ?? []).filter((from) => after.has(from)));
    for (const member of group) seen.add(member);
    if (group.size > 1 || follow[position]?.has(position)) groups.push(group);
  }
  return groups;
}

/** Whether one string leads from a position of the group back to it in two ways. */
function isAmbiguous(
  { follow }: PatternAutomaton,
  group: ReadonlySet<number>,
  overlaps: (a: number, b: number) => boolean,
): boolean {
  const inside = new Map<number, number[]>();
  for (const from of group) {
    const ways = [...(follow[from] ?? [])].filter(([to]) => group.has(to));
    if (ways.some(([, count]) => count > 1)) return true;
    inside.set(
      from,
      ways.map(([to]) => to),
    );
  }
  // Two simultaneous walks over the same string, as pairs of positions, which diverge where the two differ.
  const size = follow.length;
  const came = new Map<number, number[]>();
  let steps = 0;
  const together = [...group].map((position) => position * size + position);
  const parted = reach(together, function* (pair) {
    const [one, other] = [Math.floor(pair / size), pair % size];
    for (const a of inside.get(one) ?? []) {
      for (const b of inside.get(other) ?? []) {
        if (++steps > maximumSteps) throw new PatternError("the pattern is too large");
        if (!overlaps(a, b)) continue;
        const to = a * size + b;
        const from = came.get(to);
        if (from === undefined) came.set(to, [pair]);
        else from.push(pair);
        yield to;
      }
    }
  });
  const meetAgain = reach(together, (pair) => came.get(pair) ?? []);
  return [...meetAgain].some((pair) => parted.has(pair) && Math.floor(pair / size) !== pair % size);
}

/**
 * Whether a regular expression with the flag `u` can take time that is exponential in the length of a string. False for
 * invalid expressions. Takes limited time and does not run the expression; one that is too large counts as unsafe.
 */
export function isExponential(pattern: string): boolean {
  // Only repeated groups can be ambiguous.
  if (!/\)[*+{]/.test(pattern)) return false;
  try {
    new RegExp(pattern, "u");
    return listWholes(parsePattern(pattern)).some((whole) => {
      const automaton = createAutomaton(whole);
      const groups = findRepeatedGroups(automaton);
      if (groups.length === 0) return false;
      const overlaps = createOverlaps(automaton, pattern);
      return groups.some((group) => isAmbiguous(automaton, group, overlaps));
    });
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    if (error instanceof PatternError || error instanceof RangeError) return true;
    throw error;
  }
}
