import { createHash } from "node:crypto";
import { failure, type TrailblazeError } from "../problems/index.ts";

/** By the name that clients are served: two names that are served as one collide, too. */
function groupByName<Claim extends { name: string }>(claims: readonly Claim[]): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const served = makeServedName(claim.name);
    const group = groups.get(served);
    if (group === undefined) groups.set(served, [claim]);
    else group.push(claim);
  }
  return groups;
}

/**
 * One error that lists every name with several claims and all of their sources, which are for people: pack and version, file or
 * server. `undefined` if names are unique.
 */
export function findCollisions(
  claims: readonly { name: string; source: string }[],
  kind?: "prompt",
): TrailblazeError | undefined {
  const collisions = [...groupByName(claims).values()]
    .filter((group) => group.length > 1)
    .map((group) => ({ name: group[0]?.name ?? "", sources: group.map(({ source }) => source) }));
  return collisions.length === 0 ? undefined : failure("NameCollision", { collisions, kind });
}

/** Limit on the length of an advertised name: clients reject longer names. */
const longestName = 64;

function withNumber(name: string, number: number): string {
  const base = name.slice(0, longestName - String(number).length);
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

const hashLength = 8;

/** A name with a hash of a text that identifies it, cut to the limit. The same name and text always give the same result. */
function withHash(name: string, identity: string, longest = longestName): string {
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, hashLength);
  return `${name.slice(0, longest - hashLength - 1)}_${hash}`;
}

/** Makes a name that clients accept: other characters become `_`, and a long name is cut and ends with a stable hash. */
export function makeSafeName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/gu, "_");
  return safe.length <= longestName ? safe : withHash(safe, name);
}

/** `<prefix>_<name>`, without a second `_` after a prefix that ends with one; the name if the prefix is empty. */
export function addPrefix(prefix: string, name: string): string {
  return prefix === "" || prefix.endsWith("_") ? `${prefix}${name}` : `${prefix}_${name}`;
}

/** Clients put `mcp__trailblaze__` before a name, and models' APIs take 64 characters. */
const longestServedName = longestName - "mcp__trailblaze__".length;

/** The name under which MCP clients are served a tool or prompt of this name: a long one is cut and ends with a stable hash. */
export const makeServedName = (name: string): string =>
  name.length <= longestServedName ? name : withHash(name, name, longestServedName);

/** The name of a tool or prompt of a server by itself: with the prefix, made safe. */
export const makeOwnName = (prefix: string | undefined, own: string): string =>
  makeSafeName(addPrefix(prefix ?? "", own));

/**
 * The names under which the tools or prompts of one server are offered, by its own names. Of several that become equal, one
 * that is safe as it is keeps its name, and the others end with a stable hash. Those that are `reserved`, listed or not, have
 * the same names whatever else the server lists.
 */
export function offerNames(
  prefix: string | undefined,
  names: readonly string[],
  reserved: readonly string[] = [],
): Map<string, string> {
  const reservedNames = new Set(reserved);
  const offers = [...new Set([...reserved, ...names])].map((own) => {
    const isReserved = reservedNames.has(own);
    return { own, isReserved, prefixed: addPrefix(prefix ?? "", own), name: makeOwnName(prefix, own) };
  });
  const groups = groupByName(offers);
  return new Map(
    offers.map((offer) => {
      const { own, isReserved, prefixed, name } = offer;
      const others = (groups.get(makeServedName(name)) ?? []).filter((other) => other !== offer);
      const rivals = isReserved ? others.filter((other) => other.isReserved) : others;
      const isServed = name === prefixed && name === makeServedName(name);
      const isFirst = isServed && (isReserved || !rivals.some((rival) => rival.isReserved));
      return [own, rivals.length === 0 || isFirst ? name : withHash(name, prefixed)];
    }),
  );
}

export interface PrefixClaim {
  name: string;
  /** `undefined` for a tool that keeps its name: its name has a prefix already, or it is a built-in. */
  prefix: string | undefined;
  isBuiltIn: boolean;
  /** Identifies the tool and never changes, for the hash. */
  identity: string;
}

/**
 * Makes names unique: all claimants of one name get their prefix. What still collides, or has no prefix, ends with a
 * stable hash. Unique names stay as they are, and a name that a single built-in claims stays with it.
 */
export function prefixNames(claims: readonly PrefixClaim[]): string[] {
  const claimed = groupByName(claims);
  const prefixed = claims.map(({ prefix, ...claim }) => {
    const isUnique = claimed.get(makeServedName(claim.name))?.length === 1;
    const name =
      isUnique || prefix === undefined
        ? claim.name
        : makeSafeName(addPrefix(makeSafeName(prefix), claim.name));
    return { ...claim, name, isUnchanged: name === claim.name };
  });
  const keepers = new Set<object | undefined>();
  for (const group of groupByName(prefixed).values()) {
    // A name stays with the only built-in, or else with the only one that claimed it as it is.
    const unchanged = group.filter(({ isUnchanged }) => isUnchanged);
    const builtIns = unchanged.filter(({ isBuiltIn }) => isBuiltIn);
    const [keeper, ...others] = group.length === 1 ? group : builtIns.length > 0 ? builtIns : unchanged;
    if (others.length === 0) keepers.add(keeper);
  }
  return numberNames(
    prefixed.map((claim) => (keepers.has(claim) ? claim.name : withHash(claim.name, claim.identity))),
  );
}

/** The name of the tool that searches for others. Reserved where it is offered. */
export const searchToolName = "search_tools";

/** With more tools than this, a model gets the search instead, unless the host says another number. */
export const defaultAbove = 30;
