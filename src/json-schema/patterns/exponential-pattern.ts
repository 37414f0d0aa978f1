// A regular expression takes exponential time if a text leads from one of its characters back to it in two ways: when many such
// texts follow each other, all combinations are tried before the match fails.
import { memoize } from "../../data/memoize.ts";
import { compilePattern, type LinearPattern } from "./linear-pattern.ts";

/** Longer patterns are not judged, nor are those that take more steps. */
const longest = 500;
const maximumSteps = 1_000_000;
const mostVisits = 10;

/** Whether a text leads from a character of a pattern back to it in two ways. Throws `RangeError` if that takes too long to find. */
function isAmbiguous(steps: LinearPattern, samples: readonly string[]): boolean {
  let spent = 0;
  const spend = () => {
    if (++spent > maximumSteps) throw new RangeError("The pattern is too large.");
  };

  /** Which samples a character matches, as bits. */
  const matchesOf = memoize((index: number) => {
    const step = steps[index];
    const bits = samples.map((sample) => Number(step?.type === "character" && step.takes(sample)));
    return BigInt(`0b${bits.join("")}`);
  });
  /** In how many ways other characters follow one. Between two characters, a way takes each branch once. */
  const followersOf = memoize((from: number) => {
    const followers = new Map<number, number>();
    const taken = new Set<string>();
    const visits = new Map<number, number>();
    const follow = (index: number): void => {
      spend();
      // Two ways are as bad as thousands, as through `(a*)?(b*)?(c*)?…`.
      const visit = (visits.get(index) ?? 0) + 1;
      if (visit > mostVisits) return;
      visits.set(index, visit);
      const step = steps[index];
      if (step?.type === "character") followers.set(index, (followers.get(index) ?? 0) + 1);
      for (const way of step?.type === "split" ? step.ways : []) {
        const branch = `${index} ${way}`;
        if (taken.has(branch)) continue;
        taken.add(branch);
        follow(index + way);
        taken.delete(branch);
      }
    };
    follow(from + 1);
    return followers;
  });

  /** Goes both ways at once: to pairs of characters that match the same text. `differ`: the ways have been different. */
  function leadsBackInTwoWays(start: number): boolean {
    const pairs = [{ one: start, other: start, differ: false }];
    const seen = new Set<string>();
    for (const { one, other, differ: differed } of pairs)
      for (const [next, ways] of followersOf(one))
        for (const otherNext of followersOf(other).keys()) {
          spend();
          if ((matchesOf(next) & matchesOf(otherNext)) === 0n) continue;
          const differ = differed || next !== otherNext || (one === other && ways > 1);
          if (differ && next === start && otherNext === start) return true;
          const key = `${next} ${otherNext} ${differ}`;
          if (!seen.has(key)) pairs.push({ one: next, other: otherNext, differ });
          seen.add(key);
        }
    return false;
  }
  return steps.some(({ type }, index) => type === "character" && leadsBackInTwoWays(index));
}

/**
 * Whether a regular expression with the flag `u` can take time that is exponential in the length of a text. False for invalid
 * expressions. Takes limited time and does not run the expression.
 */
export function isExponential(pattern: string): boolean {
  // Only repeated groups can be ambiguous.
  if (pattern.length > longest || !/\)[*+{]/.test(pattern)) return false;
  const steps = compilePattern(pattern, true);
  if (typeof steps === "string") return false;
  const latin = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code));
  try {
    return isAmbiguous(steps, [...new Set([...latin, ...pattern])]);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
