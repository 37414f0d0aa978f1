import type { DiscoveryPort } from "../files/discovery-port.ts";
import { configFailure, describeConfigFaults, readProjectConfig } from "./config-file.ts";
import { type PacksPolicy, readPacksConfig } from "./packs-config.ts";

export type { PacksPolicy } from "./packs-config.ts";

/**
 * Reads the policy for packs from the project's config. An absent file allows everything. An invalid file is rejected as
 * a whole, because a misread `deny` would allow what the user excluded.
 * Throws `TrailblazeError` `InvalidConfig` with file, line and column.
 */
export async function readPacksPolicy(port: DiscoveryPort, directory: string): Promise<PacksPolicy> {
  const text = await readProjectConfig(port, directory);
  if (text === undefined) return { allow: undefined, deny: [], transitive: [] };
  const { packs, faults } = readPacksConfig(text.value, { reportMisspelled: true });
  const [first, ...others] = await describeConfigFaults(faults, text);
  if (first !== undefined) throw configFailure([first, ...others]);
  return packs;
}

/** A segment of a pattern, split at its wildcards. */
interface WildSegment {
  parts: readonly string[];
  /** The number of characters other than wildcards. */
  length: number;
}

/** Matches in one pass, for any number of wildcards. */
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

function parseWildSegment(segment: string): WildSegment {
  const parts = segment.replace(/\*+/g, "*").split("*");
  return { parts, length: parts.reduce((sum, part) => sum + part.length, 0) };
}

const parseWildPattern = (pattern: string): WildSegment[] => pattern.split("/").map(parseWildSegment);

/** The patterns of one array, prepared for matching many names. */
class PatternList {
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

interface SelectionOptions {
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

/** A subprocess server of a pack. All names are qualified. */
export interface PackServer {
  pack: string;
  server: string;
  /** Every item of the pack. A pattern with the name of an item means the item and no tool. */
  items: ReadonlySet<string>;
}

interface ToolPattern {
  packs: PatternList;
  /** Without `@`. */
  name: string;
}

const knownToolPatterns = new WeakMap<readonly string[], ToolPattern[]>();

/** The patterns that have a segment after the pack's, which may name tools. */
function toolPatternsOf(patterns: readonly string[]): ToolPattern[] {
  let list = knownToolPatterns.get(patterns);
  if (list === undefined) {
    list = patterns.flatMap((pattern) => {
      const name = pattern.replace(/^@/, "");
      const end = name.lastIndexOf("/");
      return end < 0 ? [] : [{ name, packs: new PatternList([name.slice(0, end)]) }];
    });
    knownToolPatterns.set(patterns, list);
  }
  return list;
}

/**
 * Whether the policy needs a subprocess server only because `allow` may name tools of it. Which tools it has is known
 * only after it has started.
 */
export function isNeededForTools(
  { allow, deny, transitive }: PacksPolicy,
  { pack, server, items }: PackServer,
  { isTransitive }: SelectionOptions,
): boolean {
  if (allow === undefined || matchesAny(deny, [pack, server])) return false;
  if (isTransitive && !matchesAny(transitive, [pack, server])) return false;
  return toolPatternsOf(allow).some(
    ({ packs, name }) => packs.matches(pack) && (name.includes("*") || !items.has(name)),
  );
}

/** Whether the policy allows a tool of a subprocess server. `tool` is the server's own name for it. */
export function isToolAllowed(
  { allow, deny }: PacksPolicy,
  { pack, server, items }: PackServer,
  tool: string,
): boolean {
  const name = `${pack}/${tool}`;
  const names = items.has(name) ? [] : [name];
  return !matchesAny(deny, names) && (allow === undefined || matchesAny(allow, [pack, server, ...names]));
}

/** Whether `tools` of a server in the config chooses a tool by its own name. */
export const isToolChosen = (
  { allow, deny }: { allow: readonly string[] | undefined; deny: readonly string[] },
  name: string,
): boolean => !matchesToolName(deny, name) && (allow === undefined || matchesToolName(allow, name));

/** Whether a tool's own name, which may contain slashes, matches any of the patterns; `*` matches any characters. */
export function matchesToolName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesSegment(parseWildSegment(pattern), name));
}
