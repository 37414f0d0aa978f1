import Range from "semver/classes/range.js";
import minVersion from "semver/ranges/min-version.js";
import subset from "semver/ranges/subset.js";
import { failure } from "../problems/index.ts";

/** Limits, because a pack may have thousands of references with ranges. The rest is checked when it is resolved. */
const maximumRanges = 10;
const maximumAlternatives = 20;

const alternativesOf = (range: string) =>
  new Range(range).set.map((comparators) => comparators.map(({ value }) => value).join(" "));

/** The intersection of some ranges; `undefined` if it is empty. */
function intersect(ranges: readonly string[]): string | undefined {
  let alternatives = [""];
  for (const range of ranges) {
    const both = alternatives.flatMap((left) =>
      alternativesOf(range).map((right) => `${left} ${right}`.trim()),
    );
    alternatives = [...new Set(both)].filter((one) => minVersion(one) !== null).slice(0, maximumAlternatives);
  }
  return alternatives.length === 0 ? undefined : alternatives.join(" || ");
}

/**
 * An npm specifier for the versions of a pack that satisfy all ranges: `@acme/jira@^1.2`, or its name alone if there are
 * no ranges. Throws `TrailblazeError` `PackVersionMismatch` if no version can satisfy all of them. Pure.
 */
export function joinRanges(name: string, ranges: readonly (string | undefined)[]): string {
  const requested = [...new Set(ranges.filter((range) => range !== undefined))];
  const short = requested.filter((range) => new Range(range).set.length <= maximumAlternatives);
  const distinct = (short.length === 0 ? requested.slice(0, 1) : short).slice(0, maximumRanges);
  // A range is redundant if another is a subset of it; of two equal ranges the first stays.
  const needed = distinct.filter(
    (range, index) =>
      !distinct.some(
        (other, at) => at !== index && subset(other, range) && !(subset(range, other) && at > index),
      ),
  );
  const joined = needed.length < 2 ? needed[0] : intersect(needed);
  if (joined !== undefined) return `${name}@${joined}`;
  if (needed.length > 0) throw failure("PackVersionMismatch", { name, ranges: needed }, { pack: name });
  return name;
}
