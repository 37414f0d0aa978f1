import { configFiles, type DiscoveryPort } from "../files/discovery-port.ts";
import { readProjectConfig } from "./config-file.ts";
import { type PacksPolicy, readPlainPolicy } from "./packs-config.ts";

export type { PacksPolicy } from "./packs-config.ts";

const openPolicy: PacksPolicy = { allow: undefined, deny: [], transitive: [] };

/**
 * Reads the policy for packs from the project's config. An absent file allows everything. An invalid file is rejected as
 * a whole, because a misread `deny` would allow what the user excluded.
 * Throws `TrailblazeError` `InvalidConfig` with file, line and column.
 */
export async function readPacksPolicy(port: DiscoveryPort, directory: string): Promise<PacksPolicy> {
  // What reads and explains a config is loaded only where there is one.
  if (!configFiles.some((name) => port.hasProjectFile(directory, name))) return openPolicy;
  const text = await readProjectConfig(port, directory);
  if (text === undefined) return openPolicy;
  const policy = readPlainPolicy(text.value);
  if (policy !== undefined) return policy;
  const { explainPacks } = await import("./read-config.ts");
  throw await explainPacks(text);
}

/** A segment of a pattern, split at its wildcards. */
interface WildSegment {
  parts: readonly string[];
  /** The number of characters other than wildcards. */
  length: number;
}

/** Matches in one pass, for any number of wildcards. */
export function matchesSegment({ parts, length }: WildSegment, segment: string): boolean {
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

export function parseWildSegment(segment: string): WildSegment {
  const parts = segment.replace(/\*+/g, "*").split("*");
  return { parts, length: parts.reduce((sum, part) => sum + part.length, 0) };
}

const parseWildPattern = (pattern: string): WildSegment[] => pattern.split("/").map(parseWildSegment);

/** The patterns of one array, prepared for matching many names. */
export class PatternList {
  /** Patterns without wildcards. */
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
    const segments = name.split("/");
    return this.#wild.some(
      (pattern) =>
        pattern.length === segments.length &&
        pattern.every((part, index) => matchesSegment(part, segments[index] ?? "")),
    );
  }
}

const known = new WeakMap<readonly string[], PatternList>();

/**
 * True if any of the names, of a pack (`acme/jira`) or of an item (`acme/jira/createIssue`), matches any of the patterns,
 * which may start with `@`. `*` never matches a slash, so a pattern for packs does not match the names of items.
 */
export function matchesAny(patterns: readonly string[], names: readonly string[]): boolean {
  let list = known.get(patterns);
  if (list === undefined) {
    list = new PatternList(patterns);
    known.set(patterns, list);
  }
  return names.some((name) => list.matches(name));
}

export interface SelectionOptions {
  /** The pack must also match `transitive`. */
  isTransitive: boolean;
}

function isSelected(
  { allow, deny, transitive }: PacksPolicy,
  names: readonly string[],
  { isTransitive }: SelectionOptions,
): boolean {
  return (
    !matchesAny(deny, names) &&
    (allow === undefined || matchesAny(allow, names)) &&
    (!isTransitive || matchesAny(transitive, names))
  );
}

/** Whether the policy allows an item of a pack. Both are qualified names. A pattern for the pack covers its items. */
export function isItemAllowed(
  policy: PacksPolicy,
  pack: string,
  item: string,
  options: SelectionOptions,
): boolean {
  return isSelected(policy, [pack, item], options);
}

/** Whether the policy allows at least one of a pack's items, or the pack itself if it declares none. */
export function isAllowed(
  policy: PacksPolicy,
  pack: string,
  items: readonly string[],
  options: SelectionOptions,
): boolean {
  if (items.length === 0) return isSelected(policy, [pack], options);
  return items.some((item) => isItemAllowed(policy, pack, item, options));
}
