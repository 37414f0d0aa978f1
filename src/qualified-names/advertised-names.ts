import { failure, type TrailblazeError } from "../problems/index.ts";

/** A claim to an advertised name. */
export interface NameClaim {
  name: string;
  /** Who makes it, in words: pack and version, file or server. */
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

/** One error for every name that is claimed more than once, with all who claim it; `undefined` where none is. */
export function findCollisions(claims: readonly NameClaim[]): TrailblazeError | undefined {
  const collisions = [...groupByName(claims)]
    .filter(([, group]) => group.length > 1)
    .map(([name, group]) => ({ name, sources: group.map(({ source }) => source) }));
  return collisions.length === 0 ? undefined : failure("NameCollision", { collisions });
}

/** Characters of a name that was numbered; clients take no longer ones. */
const longestNumbered = 64;

/** A name with a number behind it, of which characters before that make room. */
function withNumber(name: string, number: number): string {
  const base = name.slice(0, longestNumbered - String(number).length);
  // No half of a surrogate pair.
  return `${base.replace(/[\ud800-\udbff]$/, "")}${number}`;
}

/**
 * Names in which none is there twice: those that were get numbers in their order, `Search1`, `Search2`, where a number
 * that would make a name that is taken is passed over; they are cut to 64 characters. Unique names stay.
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
