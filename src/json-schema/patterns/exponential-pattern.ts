// A regular expression takes exponential time if, inside a repetition, one string leads back to the same place in two ways: each
// further copy of the string doubles the number of ways to try before the match fails.
import { PatternError, type PatternPart, parsePattern } from "./parse-pattern.ts";

/** What is still to match, in order. A part of the type `fresh` ends an iteration that must not be empty. */
type Rest = readonly (PatternPart | { type: "fresh" })[];

/** A place in a pattern: what is still to match, and the ways to match the next character, each a regular expression. */
interface Place {
  rest: Rest;
  ways: { source: string; to: Place }[];
}

/** Limit on steps, after which a pattern counts as unsafe: with this many overlapping ways it is ambiguous. */
const maximumSteps = 200_000;
/** Limit on the places, and on the ways from each. */
const maximumPlaces = 500;
/** Repetitions up to this limit are counted; larger ones are treated as unbounded. */
const counted = 100;
/** The limit for parts with variable length, whose copies can divide a string in many ways. */
const countedVariable = 9;

class Steps {
  #left = maximumSteps;

  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new PatternError("the pattern is too large");
  }
}

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
    if (pending.length > 20 * maximumPlaces) throw new PatternError("the pattern is too large");
  }
  return wholes;
}

/** The fixed length of the strings that a part matches; `undefined` if it varies. */
function lengthOf(part: PatternPart): number | undefined {
  if (part.type === "character") return 1;
  if (part.type === "aside") return 0;
  if (part.type === "repeat") {
    const length = part.min === part.max ? lengthOf(part.part) : undefined;
    return length === undefined ? undefined : length * part.min;
  }
  const lengths = part.parts.map(lengthOf);
  if (part.type === "choice") return new Set(lengths).size === 1 ? lengths[0] : undefined;
  return lengths.includes(undefined) ? undefined : lengths.reduce<number>((sum, one) => sum + Number(one), 0);
}

function canBeEmpty(part: PatternPart): boolean {
  if (part.type === "repeat") return part.min === 0 || canBeEmpty(part.part);
  if (part.type === "sequence") return part.parts.every(canBeEmpty);
  return part.type === "choice" ? part.parts.some(canBeEmpty) : part.type === "aside";
}

/** The ways to match the next character of what is still to match. */
function* findWays(rest: Rest, steps: Steps): Generator<{ source: string; rest: Rest }> {
  steps.spend(1 + (rest.length >> 3));
  const [part, ...others] = rest;
  if (part === undefined || part.type === "fresh") return;
  if (part.type === "character")
    yield { source: part.source, rest: others.filter(({ type }) => type !== "fresh") };
  else if (part.type === "aside") yield* findWays(others, steps);
  else if (part.type === "sequence") yield* findWays([...part.parts, ...others], steps);
  else if (part.type === "choice") for (const one of part.parts) yield* findWays([one, ...others], steps);
  else {
    const { part: inner, min, max } = part;
    const isCounted = max <= (lengthOf(inner) === undefined ? countedVariable : counted);
    const again = { ...part, min: isCounted && min > 0 ? min - 1 : 0, max: isCounted ? max - 1 : max };
    const iteration: Rest = min > 0 ? [inner] : [inner, { type: "fresh" }];
    // Any of many counted iterations may be empty.
    const turns = !isCounted && max < Infinity && canBeEmpty(inner) ? 2 : 1;
    for (let turn = 0; turn < turns && max > 0; turn++)
      yield* findWays([...iteration, again, ...others], steps);
    if (min === 0) yield* findWays(others, steps);
  }
}

/** All places of a pattern, each with its ways to others. */
function findPlaces(whole: PatternPart, steps: Steps): Place[] {
  const names = new Map<unknown, number>();
  const nameOf = (value: unknown): number => {
    const name = names.get(value) ?? names.size;
    names.set(value, name);
    return name;
  };
  /** Equal for parts that are equal but for their identity: counted repetitions are made again. */
  const keyOf = (rest: Rest) =>
    rest
      .map((one) => (one.type === "repeat" ? `${nameOf(one.part)}{${one.min},${one.max}}` : nameOf(one)))
      .join();
  const places = new Map<string, Place>();
  const placeOf = (rest: Rest): Place => {
    const key = keyOf(rest);
    const place = places.get(key) ?? { rest, ways: [] };
    places.set(key, place);
    if (places.size > maximumPlaces) throw new PatternError("the pattern is too large");
    return place;
  };
  placeOf([whole]);
  for (const place of places.values())
    for (const { source, rest } of findWays(place.rest, steps))
      place.ways.push({ source, to: placeOf(rest) });
  return [...places.values()];
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

/** Returns a function that tells whether two classes have a character in common. */
function createOverlaps(pattern: string): (one: string, other: string) => boolean {
  const samples = sampleCharacters(pattern);
  // The samples that each class matches, as bits.
  const taken = new Map<string, bigint>();
  const takenBy = (source: string) => {
    // Matching one character with one class is fast.
    const expression = new RegExp(`^${source}$`, "su");
    const bits =
      taken.get(source) ?? BigInt(`0b${samples.map((text) => (expression.test(text) ? "1" : "0")).join("")}`);
    taken.set(source, bits);
    return bits;
  };
  return (one, other) => one === other || (takenBy(one) & takenBy(other)) !== 0n;
}

function reach(start: Place): Set<Place> {
  const reached = new Set<Place>();
  const pending = [start];
  for (const { ways } of pending)
    for (const { to } of ways)
      if (!reached.has(to)) {
        reached.add(to);
        pending.push(to);
      }
  return reached;
}

/** Whether one string leads from a place of a group to another one in two ways. */
function isAmbiguous(
  group: ReadonlySet<Place>,
  overlaps: (one: string, other: string) => boolean,
  steps: Steps,
): boolean {
  const waysIn = ({ ways }: Place) => ways.filter(({ to }) => group.has(to));
  // Two walks over the same string at once. Those that have not parted are at the same place.
  const pending = [...group].map((place): [Place, Place] => [place, place]);
  const seen = new Map([...group].map((place) => [place, new Set<Place>()]));
  for (const [left, right] of pending) {
    for (const [index, one] of waysIn(left).entries()) {
      for (const other of left === right ? waysIn(right).slice(index + 1) : waysIn(right)) {
        steps.spend();
        if (!overlaps(one.source, other.source)) continue;
        if (one.to === other.to) return true;
        if (seen.get(one.to)?.has(other.to)) continue;
        seen.get(one.to)?.add(other.to);
        pending.push([one.to, other.to]);
      }
    }
  }
  return false;
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
    const overlaps = createOverlaps(pattern);
    return listWholes(parsePattern(pattern)).some((whole) => {
      const steps = new Steps();
      const reached = new Map(findPlaces(whole, steps).map((place) => [place, reach(place)]));
      const grouped = new Set<Place>();
      return [...reached].some(([place, after]) => {
        if (grouped.has(place) || !after.has(place)) return false;
        const group = new Set([...after].filter((one) => reached.get(one)?.has(place)));
        for (const one of group) grouped.add(one);
        return isAmbiguous(group, overlaps, steps);
      });
    });
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    if (error instanceof PatternError || error instanceof RangeError) return true;
    throw error;
  }
}
