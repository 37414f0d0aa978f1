import type { DiscoveryPort } from "../files/discovery-port.ts";
import { configFailure, describeConfigFaults, readProjectConfig } from "./config-file.ts";
import { type PacksPolicy, readPacksConfig } from "./packs-config.ts";

export type { PacksPolicy } from "./packs-config.ts";

/**
 * Reads what the project's config says of packs. An absent file allows everything; one that cannot be understood is
 * refused as a whole, since a misread `deny` would let in what the user shut out.
 * Throws `TrailblazeError` `InvalidConfig` with file, line and column.
 */
export async function readPacksPolicy(port: DiscoveryPort, directory: string): Promise<PacksPolicy> {
  const text = await readProjectConfig(port, directory);
  const { packs, faults } = readPacksConfig(text?.value, { reportMisspelled: true });
  const [first, ...others] = await describeConfigFaults(faults, text);
  if (first !== undefined) throw configFailure([first, ...others]);
  return packs;
}

/** A segment of a pattern: what stands before, between and behind its wildcards. */
interface WildSegment {
  parts: readonly string[];
  /** Characters that are no wildcards. */
  length: number;
}

/** Takes one pass, however many wildcards there are. */
function matchesSegment({ parts, length }: WildSegment, segment: string): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return first === segment;
  if (length > segment.length || !segment.startsWith(first) || !segment.endsWith(last)) return false;
  const end = segment.length - last.length;
  let at = first.length;
  for (const part of others) {
    const found = segment.indexOf(part, at);
    at = found + part.length;
    if (found < 0 || at > end) return false;
  }
  return true;
}

function parseWildPattern(pattern: string): WildSegment[] {
  return pattern.split("/").map((segment) => {
    const parts = segment.replace(/\*+/g, "*").split("*");
    return { parts, length: parts.reduce((sum, part) => sum + part.length, 0) };
  });
}

/** The patterns of one list, made ready for looking up many names. */
class PatternList {
  /** Patterns that are names. */
  readonly #names = new Set<string>();
  readonly #wild: WildSegment[][] = [];

  constructor(patterns: readonly string[]) {
    for (const pattern of patterns) {
      const name = pattern.replace(/^@/, "");
      if (name.includes("*")) this.#wild.push(parseWildPattern(name));
      else this.#names.add(name);
    }
  }

  matches(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#wild.length === 0) return false;
    const given = name.split("/");
    return this.#wild.some(
      (wanted) =>
        wanted.length === given.length &&
        wanted.every((part, index) => matchesSegment(part, given[index] ?? "")),
    );
  }
}

const known = new WeakMap<readonly string[], PatternList>();

/**
 * True if one of some qualified names, of a pack (`acme/jira`) or of an item (`acme/jira/createIssue`), fits one of some
 * patterns, which may begin with `@`. `*` never crosses a slash, so a pattern of a pack fits no item's name.
 */
export function matchesAny(patterns: readonly string[], names: readonly string[]): boolean {
  let list = known.get(patterns);
  if (list === undefined) {
    list = new PatternList(patterns);
    known.set(patterns, list);
  }
  return names.some((name) => list.matches(name));
}

interface Circumstances {
  /** What only other packages name needs to be in `transitive` besides. */
  isTransitive: boolean;
}

/** Whether something is taken that goes by all of these names. */
function isTaken(
  { allow, deny, transitive }: PacksPolicy,
  names: readonly string[],
  { isTransitive }: Circumstances,
): boolean {
  return (
    !matchesAny(deny, names) &&
    (allow === undefined || matchesAny(allow, names)) &&
    (!isTransitive || matchesAny(transitive, names))
  );
}

/** Whether the policy lets in an item of a pack, both by qualified name. A pattern of the pack covers its items. */
export function isItemAllowed(
  policy: PacksPolicy,
  pack: string,
  item: string,
  circumstances: Circumstances,
): boolean {
  return isTaken(policy, [pack, item], circumstances);
}

/** Whether the policy lets in at least one of a pack's items, or the pack itself where it declares none. */
export function isAllowed(
  policy: PacksPolicy,
  pack: string,
  items: readonly string[],
  circumstances: Circumstances,
): boolean {
  if (items.length === 0) return isTaken(policy, [pack], circumstances);
  return items.some((item) => isItemAllowed(policy, pack, item, circumstances));
}
