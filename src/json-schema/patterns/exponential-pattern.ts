// A regular expression takes exponential time if there are exponentially many ways to match a string: all are tried before the match
// fails. They are counted with the steps of our own engine, for strings that have as many as possible.
import { compileSteps, type Step } from "./linear-pattern.ts";
import { PatternError, type PatternPart, parsePattern } from "./parse-pattern.ts";

/** Limit on the work for one pattern, after which it counts as unsafe: only very ambiguous ones take as much. */
const maximumWork = 5_000_000;
/** The characters of a string, and the ways that only exponential growth or a high power reaches with as many. */
const length = 64;
const manyWays = 10_000_000;
/** Characters after which no more ways are expected. */
const patience = 12;
/** Repetitions up to this limit are counted; larger ones are treated as unbounded. */
const counted = 100;

function canBeEmpty(part: PatternPart): boolean {
  if (part.type === "repeat") return part.min === 0 || canBeEmpty(part.part);
  if (part.type === "sequence") return part.parts.every(canBeEmpty);
  return part.type === "choice" && part.parts.some(canBeEmpty);
}

/** Collects what is matched independently, the pattern and its lookarounds, without anything that consumes no characters. */
function listWholes(part: PatternPart, wholes: PatternPart[] = []): PatternPart[] {
  const simplify = (one: PatternPart): PatternPart => {
    if (one.type === "character") return one;
    if (one.type === "sequence" || one.type === "choice")
      return { type: one.type, parts: one.parts.map(simplify) };
    if (one.type === "repeat") {
      const part = simplify(one.part);
      const { min, max } = one.max > counted ? { min: 0, max: Infinity } : one;
      // To take the part with nothing is the same way as not to take it.
      return { type: "repeat", part, min: canBeEmpty(part) && max > 0 ? Math.max(min, 1) : min, max };
    }
    if (one.part !== undefined) listWholes(one.part, wholes);
    return { type: "sequence", parts: [] };
  };
  wholes.push(simplify(part));
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

/** Whether some string can be matched in very many ways. `spend` throws if this takes too long. */
function isAmbiguous(steps: readonly Step[], samples: readonly string[], spend: (work: number) => void) {
  /** The steps that can take the character after the one that a step has taken, once for each way. */
  const followers = new Map<number, readonly number[]>();
  function follow(from: number): readonly number[] {
    const found: number[] = [];
    const used = new Set<number>();
    function walk(index: number): void {
      spend(1);
      const step = steps[index];
      if (step?.type === "character") found.push(index);
      for (const way of step?.type === "split" ? step.ways : []) {
        // A repetition ends with an iteration that takes nothing, so each way is gone once.
        const edge = index * steps.length + way;
        if (used.has(edge)) continue;
        used.add(edge);
        walk(way);
        used.delete(edge);
      }
    }
    walk(from + 1);
    followers.set(from, found);
    return found;
  }

  const bySource = new Map(steps.flatMap((step) => (step.type === "character" ? [[step.source, step]] : [])));
  /** For each kind of character, the classes that take it. */
  const kinds = new Map<string, ReadonlySet<string>>();
  for (const sample of samples) {
    spend(bySource.size);
    const classes = [...bySource].filter(([, step]) => step.takes(sample)).map(([source]) => source);
    if (classes.length > 0) kinds.set(classes.join("\n"), new Set(classes));
  }

  return steps.some((start, at) => {
    let ways = new Map([[at, 1]]);
    let most = 1;
    for (let turn = 0, since = 0; start.type === "character" && turn < length && since < patience; turn++) {
      let best = { total: 0, moved: ways };
      for (const classes of kinds.values()) {
        const moved = new Map<number, number>();
        let total = 0;
        for (const [index, count] of ways) {
          const step = steps[index];
          spend(1);
          if (step?.type !== "character" || !classes.has(step.source)) continue;
          for (const next of followers.get(index) ?? follow(index)) {
            moved.set(next, (moved.get(next) ?? 0) + count);
            total += count;
          }
        }
        if (total > best.total) best = { total, moved };
      }
      if (best.total > manyWays) return true;
      if (best.total === 0) return false;
      since = best.total > most ? 0 : since + 1;
      most = Math.max(most, best.total);
      ways = best.moved;
    }
    return false;
  });
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
    let left = maximumWork;
    const spend = (work: number) => {
      left -= work;
      if (left < 0) throw new PatternError("the pattern is too large");
    };
    const samples = sampleCharacters(pattern);
    return listWholes(parsePattern(pattern)).some((whole) =>
      isAmbiguous(compileSteps(whole), samples, spend),
    );
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    if (error instanceof PatternError || error instanceof RangeError) return true;
    throw error;
  }
}
