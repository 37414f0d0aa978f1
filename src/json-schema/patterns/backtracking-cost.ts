import { type PatternPart, parsePattern } from "./parse-pattern.ts";

/** The number of paths through a part: `factor`, times the ways to place `ends` ends of repetitions in the string. */
interface Ways {
  ends: number;
  factor: number;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
const endsOf = (all: readonly (Ways & { isAside: boolean })[], isAside: boolean) =>
  all.filter((one) => one.isAside === isAside).map(({ ends }) => ends);

function waysThrough(part: PatternPart): Ways {
  switch (part.type) {
    case "character":
      return { ends: 0, factor: 1 };
    case "sequence": {
      const all = part.parts.map((one) => ({ ...waysThrough(one), isAside: one.type === "aside" }));
      return {
        // Lookarounds are not backtracked into, so only the most expensive one counts.
        ends: sumOf(endsOf(all, false)) + Math.max(0, ...endsOf(all, true)),
        factor: all.reduce((product, { factor }) => product * factor, 1),
      };
    }
    case "choice": {
      const all = part.parts.map(waysThrough);
      return {
        ends: Math.max(...all.map(({ ends }) => ends)),
        factor: all.reduce((sum, { factor }) => sum + factor, 0),
      };
    }
    case "repeat": {
      const { ends, factor } = waysThrough(part.part);
      // The iterations of an unbounded repetition are unambiguous, because the pattern is not exponential.
      if (part.max === Infinity) return { ends: ends + 1, factor: factor ** Math.max(1, part.min) };
      return { ends: ends * part.max + (part.max > part.min ? 1 : 0), factor: factor ** part.max };
    }
    case "aside":
      return part.part === undefined ? { ends: 0, factor: 1 } : waysThrough(part.part);
  }
}

/**
 * An approximate upper bound of the steps of a backtracking search, by the length of the string. For patterns for which
 * `isExponential` is false.
 */
export function createBacktrackingCost(pattern: string): (length: number) => number {
  const { ends, factor } = waysThrough(parsePattern(pattern));
  // The search starts at every position, unless the pattern is anchored.
  const isAnchored = pattern.startsWith("^") && !pattern.includes("|");
  const backReferences = pattern.match(/\\[1-9k]/g)?.length ?? 0;
  const all = ends + backReferences + (isAnchored ? 0 : 1);
  return (length) => {
    // The binomial coefficient `length + all` over `all`: the ways to place the ordered ends between the characters.
    const [few, many] = length < all ? [length, all] : [all, length];
    let ways = factor;
    for (let turn = 1; turn <= few && ways < Infinity; turn++) ways *= (many + turn) / turn;
    return ways + length;
  };
}
