import { PatternError, type PatternPart } from "./parse-pattern.ts";

/** The number of paths to each position; 2 means several. */
type Ways = Map<number, number>;

/** The first and last positions of a part, and in how many ways it can match the empty string. */
interface Ends {
  first: Ways;
  last: Ways;
  empty: number;
}

/**
 * The positions of a pattern, one for each character to match, with their successors. Unlike in a plain automaton, several
 * transitions between the same positions are counted: `(a*)*` can repeat its `a` in two ways.
 */
export interface PatternAutomaton {
  /** A regular expression for the character at each position. */
  sources: string[];
  follow: Ways[];
}

const maximumPositions = 500;
/** Repetitions up to this limit are expanded; larger ones are treated as unbounded. */
const writtenOut = 100;
/** The limit for parts with variable length, whose copies can divide a string in many ways. */
const writtenOutVariable = 9;

const add = (ways: Ways, position: number, count: number) =>
  ways.set(position, Math.min(2, (ways.get(position) ?? 0) + count));

function merge(into: Ways, from: Ways, times: number): void {
  if (times > 0) for (const [position, count] of from) add(into, position, count * times);
}

/** The fixed length of the strings that a part matches; `undefined` if it varies. */
function lengthOf(part: PatternPart): number | undefined {
  switch (part.type) {
    case "character":
      return 1;
    case "aside":
      return 0;
    case "sequence":
      return part.parts.reduce<number | undefined>((sum, one) => {
        const length = lengthOf(one);
        return sum === undefined || length === undefined ? undefined : sum + length;
      }, 0);
    case "choice": {
      const [first, ...others] = part.parts.map(lengthOf);
      return others.every((length) => length === first) ? first : undefined;
    }
    case "repeat": {
      const length = part.min === part.max ? lengthOf(part.part) : undefined;
      return length === undefined ? undefined : length * part.min;
    }
  }
}

/** Creates the automaton of a pattern. Throws `PatternError` if it is too large. */
export function createAutomaton(pattern: PatternPart): PatternAutomaton {
  const automaton: PatternAutomaton = { sources: [], follow: [] };
  const nothing = (): Ends => ({ first: new Map(), last: new Map(), empty: 1 });

  function connect(last: Ways, first: Ways, times = 1): void {
    for (const [position, count] of last) {
      const follow = automaton.follow[position];
      if (follow !== undefined) merge(follow, first, count * times);
    }
  }

  function concatenate(before: Ends, after: Ends): Ends {
    connect(before.last, after.first);
    merge(before.first, after.first, before.empty);
    merge(after.last, before.last, after.empty);
    return { first: before.first, last: after.last, empty: Math.min(2, before.empty * after.empty) };
  }

  function repeat({ part, min, max }: Extract<PatternPart, { type: "repeat" }>): Ends {
    if (max === 0) return nothing();
    const limit = lengthOf(part) === undefined ? writtenOutVariable : writtenOut;
    if (max > limit) {
      const ends = build(part);
      // Any iteration of a counted repetition may be empty.
      connect(ends.last, ends.first, Number.isFinite(max) && ends.empty > 0 ? 2 : 1);
      // Required iterations may be empty before a non-empty one.
      if (min > 0 && ends.empty > 0) merge(ends.first, new Map(ends.first), 1);
      return { ...ends, empty: min === 0 ? 1 : ends.empty };
    }
    let rest = nothing();
    // Optional iterations cannot be empty, so the only empty match is to omit them.
    for (let turn = max; turn > min; turn--) rest = { ...concatenate(build(part), rest), empty: 1 };
    for (let turn = min; turn > 0; turn--) rest = concatenate(build(part), rest);
    return rest;
  }

  function build(part: PatternPart): Ends {
    switch (part.type) {
      case "character": {
        const position = automaton.sources.push(part.source) - 1;
        if (position >= maximumPositions) throw new PatternError("the pattern is too large");
        automaton.follow.push(new Map());
        return { first: new Map([[position, 1]]), last: new Map([[position, 1]]), empty: 0 };
      }
      case "aside":
        return nothing();
      case "sequence":
        return part.parts.reduce<Ends>((before, one) => concatenate(before, build(one)), nothing());
      case "choice": {
        const ends: Ends = { first: new Map(), last: new Map(), empty: 0 };
        for (const { first, last, empty } of part.parts.map(build)) {
          merge(ends.first, first, 1);
          merge(ends.last, last, 1);
          ends.empty = Math.min(2, ends.empty + empty);
        }
        return ends;
      }
      case "repeat":
        return repeat(part);
    }
  }

  build(pattern);
  return automaton;
}
