import { failure, type TrailblazeError } from "../problems/index.ts";

/** A claim to an advertised name. */
export interface NameClaim {
  name: string;
  /** The claimant, for people: pack and version, file or server. */
  source: string;
}

function groupByName<Claim extends NameClaim>(claims: readonly Claim[]): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const group = groups.get(claim.name);
    if (group === undefined) groups.set(claim.name, [claim]);
    else group.push(claim);
  }
  return groups;
}

/** One error that lists every name with several claims and all of their sources; `undefined` if names are unique. */
export function findCollisions(claims: readonly NameClaim[]): TrailblazeError | undefined {
  const collisions = [...groupByName(claims)]
    .filter(([, group]) => group.length > 1)
    .map(([name, group]) => ({ name, sources: group.map(({ source }) => source) }));
  return collisions.length === 0 ? undefined : failure("NameCollision", { collisions });
}

/** Limit on the length of a numbered name: clients reject longer names. */
const longestNumbered = 64;

/** Appends a number to a name, which is cut to stay within the limit. */
function withNumber(name: string, number: number): string {
  const base = name.slice(0, longestNumbered - String(number).length);
  // The cut may split a surrogate pair.
  return `${base.replace(/[\ud800-\udbff]$/, "")}${number}`;
}

/**
 * Makes names unique: duplicates are numbered in order, `Search1`, `Search2`, skipping numbers that would collide, and
 * cut to 64 characters. Unique names stay as they are.
 */
export function numberNames(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set(names);
  const next = new Map<string, number>();
  return names.map((name) => {
    if (counts.get(name) === 1) return name;
    let number = next.get(name) ?? 1;
    while (taken.has(withNumber(name, number))) number += 1;
    next.set(name, number + 1);
    const numbered = withNumber(name, number);
    taken.add(numbered);
    return numbered;
  });
}
