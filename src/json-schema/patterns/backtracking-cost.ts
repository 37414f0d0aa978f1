import { type PatternPart, parsePattern } from "./parse-pattern.ts";

/** Ways through a part: `factor` whatever the string, times those to put `ends` ends of repetitions into it. */
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
        // Nothing goes back into what looks around: one after the other they take as long as the longest does.
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
      // Without end the turns cannot be told apart by ways of their own, or the pattern were exponential.
      if (part.max === Infinity) return { ends: ends + 1, factor: factor ** Math.max(1, part.min) };
      return { ends: ends * part.max + (part.max > part.min ? 1 : 0), factor: factor ** part.max };
    }
    case "aside":
      return part.part === undefined ? { ends: 0, factor: 1 } : waysThrough(part.part);
  }
}

/**
 * An upper bound, roughly, of the steps that a backtracking search for a pattern takes at worst in a string of a length.
 * For patterns of which `isExponential` is false.
 */
export function createBacktrackingCost(pattern: string): (length: number) => number {
  const { ends, factor } = waysThrough(parsePattern(pattern));
  // The search begins at each place of the string, unless the pattern says where.
  const isAnchored = pattern.startsWith("^") && !pattern.includes("|");
  const backReferences = pattern.match(/\\[1-9k]/g)?.length ?? 0;
  const all = ends + backReferences + (isAnchored ? 0 : 1);
  return (length) => {
    // `length + all` over `all`: so many ways there are to put the ends, in their order, between the characters.
    const [few, many] = length < all ? [length, all] : [all, length];
    let ways = factor;
    for (let turn = 1; turn <= few && ways < Infinity; turn++) ways *= (many + turn) / turn;
    return ways + length;
  };
}
