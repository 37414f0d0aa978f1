// A regular expression takes exponential time if a text leads from one of its characters back to it in two ways: when many such
// texts follow each other, all combinations are tried before the match fails.
import { type PatternPart, parsePattern } from "./parse-pattern.ts";

/** Longer patterns are not judged, nor are those that take more steps. */
const longest = 500;
const maximumSteps = 1_000_000;
/** Turns of a repetition that make no difference, so that they are written out. */
const few = 10;

/** The characters, by their numbers, with which a part begins and ends. */
interface Span {
  first: readonly number[];
  last: readonly number[];
  canBeEmpty: boolean;
}

const nothing: Span = { first: [], last: [], canBeEmpty: true };

/** The characters of a pattern, and in how many ways one follows another. */
class CharacterGraph {
  readonly #samples: readonly string[];
  /** For each kind of character, which samples it matches, as bits. */
  readonly #kinds = new Map<string, bigint>();
  readonly #characters: { matches: bigint; followers: Map<number, number> }[] = [];
  #steps = 0;

  constructor(pattern: string) {
    const latin = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code));
    this.#samples = [...new Set([...latin, ...pattern])];
    this.#add(parsePattern(pattern));
  }

  #matchesOf(source: string): bigint {
    const character = new RegExp(`^${source}$`, "u");
    return BigInt(`0b${this.#samples.map((sample) => Number(character.test(sample))).join("")}`);
  }

  #connect({ last }: Span, { first }: Span): void {
    for (const end of last) {
      const followers = this.#characters[end]?.followers;
      for (const next of this.#canGoOn() ? first : []) followers?.set(next, (followers.get(next) ?? 0) + 1);
    }
  }

  #append(before: Span, after: Span): Span {
    this.#connect(before, after);
    return {
      first: before.canBeEmpty ? [...before.first, ...after.first] : before.first,
      last: after.canBeEmpty ? [...before.last, ...after.last] : after.last,
      canBeEmpty: before.canBeEmpty && after.canBeEmpty,
    };
  }

  #add(part: PatternPart): Span {
    // Each part takes memory, too.
    if (!this.#canGoOn(100)) return nothing;
    if (part.type === "character") {
      const matches = this.#kinds.get(part.source) ?? this.#matchesOf(part.source);
      this.#kinds.set(part.source, matches);
      const number = this.#characters.push({ matches, followers: new Map() }) - 1;
      return { first: [number], last: [number], canBeEmpty: false };
    }
    if (part.type === "sequence")
      return part.parts.reduce((before: Span, one) => this.#append(before, this.#add(one)), nothing);
    if (part.type === "choice") {
      const spans = part.parts.map((one) => this.#add(one));
      const canBeEmpty = spans.some((one) => one.canBeEmpty);
      return {
        first: spans.flatMap(({ first }) => first),
        last: spans.flatMap(({ last }) => last),
        canBeEmpty,
      };
    }
    if (part.type === "aside") {
      // A lookaround is matched on its own.
      if (part.part !== undefined) this.#add(part.part);
      return nothing;
    }
    if (part.max > few) {
      const span = this.#add(part.part);
      this.#connect(span, span);
      return { ...span, canBeEmpty: span.canBeEmpty || part.min === 0 };
    }
    // `a{1,3}` is `a(a(a)?)?`.
    let rest = nothing;
    for (let turn = part.max; turn > 0; turn--) {
      const span = this.#append(this.#add(part.part), rest);
      rest = { ...span, canBeEmpty: span.canBeEmpty || turn > part.min };
    }
    return rest;
  }

  #canGoOn(steps = 1): boolean {
    this.#steps += steps;
    return this.#steps < maximumSteps;
  }

  /** Goes both ways at once: to pairs of characters that match the same text. `differ`: the ways have been different. */
  #leadsBackInTwoWays(start: number): boolean {
    const pairs = [{ one: start, other: start, differ: false }];
    const seen = new Set<string>();
    const at = (index: number) =>
      this.#characters[index] ?? { matches: 0n, followers: new Map<number, number>() };
    for (const { one, other, differ: differed } of pairs)
      for (const [next, ways] of at(one).followers)
        for (const otherNext of at(other).followers.keys()) {
          if (!this.#canGoOn()) return false;
          if ((at(next).matches & at(otherNext).matches) === 0n) continue;
          const differ = differed || next !== otherNext || (one === other && ways > 1);
          if (differ && next === start && otherNext === start) return true;
          const key = `${next} ${otherNext} ${differ}`;
          if (!seen.has(key)) pairs.push({ one: next, other: otherNext, differ });
          seen.add(key);
        }
    return false;
  }

  isAmbiguous(): boolean {
    return this.#characters.some((_, start) => this.#leadsBackInTwoWays(start));
  }
}

/**
 * Whether a regular expression with the flag `u` can take time that is exponential in the length of a text. False for invalid
 * expressions. Takes limited time and does not run the expression.
 */
export function isExponential(pattern: string): boolean {
  // Only repeated groups can be ambiguous.
  if (pattern.length > longest || !/\)[*+{]/.test(pattern)) return false;
  try {
    new RegExp(pattern, "u");
  } catch {
    return false;
  }
  return new CharacterGraph(pattern).isAmbiguous();
}
