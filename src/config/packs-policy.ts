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

/** Whether a text matches a pattern, in one pass for any number of wildcards. `*` matches any characters. */
export function matchesWild(pattern: string, text: string): boolean {
  const [first = "", ...others] = pattern.split(/\*+/);
  const last = others.pop();
  if (last === undefined) return pattern === text;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.startsWith(first) && text.endsWith(last) && at <= text.length - last.length;
}

/** The same for names with segments: `*` matches no slash. */
export function matchesName(pattern: readonly string[], name: string): boolean {
  const segments = name.split("/");
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => matchesWild(part, segments[index] ?? ""))
  );
}

/** The patterns of one array, prepared for matching many names. */
export class PatternList {
  readonly #names: ReadonlySet<string>;
  /** The segments of patterns with wildcards. */
  readonly #wild: readonly (readonly string[])[];

  constructor(patterns: readonly string[]) {
    const names = patterns.map((pattern) => pattern.replace(/^@/, ""));
    this.#names = new Set(names.filter((name) => !name.includes("*")));
    this.#wild = names.filter((name) => name.includes("*")).map((name) => name.split("/"));
  }

  matches(name: string): boolean {
    return this.#names.has(name) || this.#wild.some((pattern) => matchesName(pattern, name));
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

/**
 * Whether the policy allows an item of a pack, or a pack itself. Both are qualified names. A pattern for the pack covers its
 * items. `isTransitive`: it must also match `transitive`.
 */
export function isItemAllowed(
  { allow, deny, transitive }: PacksPolicy,
  pack: string,
  item = pack,
  isTransitive = false,
): boolean {
  const names = [pack, item];
  return (
    !matchesAny(deny, names) &&
    (allow === undefined || matchesAny(allow, names)) &&
    (!isTransitive || matchesAny(transitive, names))
  );
}

/** Whether the policy allows at least one of a pack's items, or the pack itself if it declares none. */
export const isAllowed = (
  policy: PacksPolicy,
  pack: string,
  items: readonly string[] = [],
  isTransitive = false,
): boolean =>
  (items.length === 0 ? [pack] : items).some((item) => isItemAllowed(policy, pack, item, isTransitive));
