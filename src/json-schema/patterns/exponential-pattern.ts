// A regular expression takes exponential time if a string can be divided among the turns of a repetition in exponentially many
// ways: all are tried before the match fails.
import { type PatternPart, parsePattern } from "./parse-pattern.ts";

/** Longer patterns are not judged. */
const longest = 500;
/** Turns of a repetition that make no difference. */
const few = 10;

/** The characters of Latin-1 with which a part can begin, as bits. */
type Characters = bigint;

function charactersOf(source: string): Characters {
  const character = new RegExp(`^${source}$`, "u");
  const codes = Array.from({ length: 0x100 }, (_, code) => code);
  return codes.reduce(
    (all, code) => all | (BigInt(character.test(String.fromCharCode(code))) << BigInt(code)),
    0n,
  );
}

function canBeEmpty(part: PatternPart): boolean {
  if (part.type === "repeat") return part.min === 0 || canBeEmpty(part.part);
  if (part.type === "sequence") return part.parts.every(canBeEmpty);
  return part.type === "choice" ? part.parts.some(canBeEmpty) : part.type === "aside";
}

function beginningOf(part: PatternPart): Characters {
  if (part.type === "character") return charactersOf(part.source);
  if (part.type === "repeat") return beginningOf(part.part);
  if (part.type === "aside") return 0n;
  const end = part.type === "sequence" ? part.parts.findIndex((one) => !canBeEmpty(one)) : -1;
  const first = end < 0 ? part.parts : part.parts.slice(0, end + 1);
  return first.reduce((all, one) => all | beginningOf(one), 0n);
}

/** Whether two alternatives match the same text: characters in common, or one as the other. */
const areSame = (one: PatternPart, other: PatternPart) =>
  one.type === "character" && other.type === "character"
    ? one.source === other.source || (charactersOf(one.source) & charactersOf(other.source)) !== 0n
    : JSON.stringify(one) === JSON.stringify(other);

/**
 * Whether a text of many turns of a part can be divided in several ways. `around` is where each of the other things in a turn that
 * cannot be empty begins: one that begins unlike an inner repetition shows where that ends.
 */
function isAmbiguous(part: PatternPart, around: readonly Characters[]): boolean {
  switch (part.type) {
    case "repeat": {
      const inside = beginningOf(part.part);
      const varies = part.max > 1 && part.min < part.max;
      return (varies && !around.some((one) => (one & inside) === 0n)) || isAmbiguous(part.part, around);
    }
    case "sequence": {
      const fixed = part.parts.map((one) => (canBeEmpty(one) ? undefined : beginningOf(one)));
      return part.parts.some((one, at) => {
        const others = fixed.filter((other, index) => index !== at && other !== undefined) as Characters[];
        return isAmbiguous(one, [...around, ...others]);
      });
    }
    case "choice":
      return part.parts.some(
        (one, at) => part.parts.slice(0, at).some((other) => areSame(one, other)) || isAmbiguous(one, around),
      );
    default:
      return false;
  }
}

function isUnsafe(part: PatternPart): boolean {
  if (part.type === "character") return false;
  if (part.type === "aside") return part.part !== undefined && isUnsafe(part.part);
  if (part.type !== "repeat") return part.parts.some(isUnsafe);
  return (part.max > few && isAmbiguous(part.part, [])) || isUnsafe(part.part);
}

/**
 * Whether a regular expression with the flag `u` seems to take time that is exponential in the length of a string, by what is
 * repeated in it. False for invalid expressions. Does not run the expression.
 */
export function isExponential(pattern: string): boolean {
  // Only repeated groups can be ambiguous.
  if (pattern.length > longest || !/\)[*+{]/.test(pattern)) return false;
  try {
    new RegExp(pattern, "u");
  } catch {
    return false;
  }
  return isUnsafe(parsePattern(pattern));
}
