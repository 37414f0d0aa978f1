import Range from "semver/classes/range.js";
import minVersion from "semver/ranges/min-version.js";
import subset from "semver/ranges/subset.js";
import { failure } from "../problems/index.ts";

/** References beyond these are checked when they are resolved: a pack may hold thousands with ranges of its own making. */
const maximumRanges = 10;
const maximumAlternatives = 20;

const alternativesOf = (range: string) =>
  new Range(range).set.map((comparators) => comparators.map(({ value }) => value).join(" "));

/** The range of the versions that are in all of some ranges; `undefined` where there can be none. */
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
 * A pack as npm takes it, in the versions that all of some ranges allow: `@acme/jira@^1.2`, or its name alone. Throws
 * `TrailblazeError` `PackVersionMismatch` where no version can be in all of them. Pure.
 */
export function joinRanges(name: string, ranges: readonly (string | undefined)[]): string {
  const given = [...new Set(ranges.filter((range) => range !== undefined))];
  const short = given.filter((range) => new Range(range).set.length <= maximumAlternatives);
  const distinct = (short.length === 0 ? given.slice(0, 1) : short).slice(0, maximumRanges);
  // What another range allows anyway need not be said; of two that mean the same the first stays.
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
