import { isRecord, isText } from "../data/parse-json.ts";
import { configFiles, type DiscoveryPort } from "../files/discovery-port.ts";
import { packPattern } from "../qualified-names/item-name.ts";
import { readProjectConfig } from "./config-file.ts";

/** Which packs the user allows: the part of the config's `packs` that discovery needs. */
export interface PacksPolicy {
  /** `undefined` allows everything. */
  allow?: readonly string[] | undefined;
  /** Takes precedence over `allow`. */
  deny: readonly string[];
  transitive: readonly string[];
}

/** The keys of `packs` that only sessions read. */
const otherKeys = ["onError", "memory", "autoInstall"];

function isPlainValue([key, value]: [string, unknown]): boolean {
  if (value === null || value === undefined || key.startsWith("x-") || otherKeys.includes(key)) return true;
  return (
    ["allow", "deny", "transitive"].includes(key) &&
    Array.isArray(value) &&
    value.every((pattern) => isText(pattern) && packPattern.test(pattern))
  );
}

/**
 * The policy for packs of a config, read by hand because loading zod would double the time of a `list`. `undefined` if
 * something in it is not as it should be, which the whole check of the config then describes. Pure.
 */
export function readPlainPolicy(config: unknown): PacksPolicy | undefined {
  const written = config ?? {};
  if (!isRecord(written)) return undefined;
  const packs = (Object.hasOwn(written, "packs") ? written.packs : undefined) ?? {};
  if (!isRecord(packs) || !Object.entries(packs).every(isPlainValue)) return undefined;
  const { allow, deny, transitive } = packs as Partial<PacksPolicy>;
  return { allow: allow ?? undefined, deny: deny ?? [], transitive: transitive ?? [] };
}

/**
 * Reads the policy for packs from the project's config. An absent file allows everything. An invalid file is rejected as
 * a whole, because a misread `deny` would allow what the user excluded.
 * Throws `TrailblazeError` `InvalidConfig` with file, line and column.
 */
export async function readPacksPolicy(port: DiscoveryPort, directory: string): Promise<PacksPolicy> {
  // What reads and explains a config is loaded only where there is one.
  const isThere = configFiles.some((name) => port.hasProjectFile(directory, name));
  const text = isThere ? await readProjectConfig(port, directory) : undefined;
  return readPlainPolicy(text?.value) ?? (await import("./read-config.ts")).refusePacks(text);
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

/** The same for names with segments: `*` matches no slash. The pattern may start with `@`. */
export function matchesName(pattern: string, name: string): boolean {
  const written = pattern.startsWith("@") ? pattern.slice(1) : pattern;
  if (!written.includes("*")) return written === name;
  const [parts, segments] = [written.split("/"), name.split("/")];
  return (
    parts.length === segments.length && parts.every((part, index) => matchesWild(part, segments[index] ?? ""))
  );
}

/**
 * True if any of the names, of a pack (`acme/jira`) or of an item (`acme/jira/createIssue`), matches any of the patterns.
 * `*` never matches a slash, so a pattern for packs does not match the names of items.
 */
export const matchesAny = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.some((pattern) => names.some((name) => matchesName(pattern, name)));

/**
 * Whether the policy allows what has these names: that of a pack, and in a pack that of an item. A pattern for the pack covers
 * its items. `isTransitive`: one must also match `transitive`.
 */
export const isAllowed = (
  { allow, deny, transitive }: PacksPolicy,
  names: readonly string[],
  isTransitive = false,
): boolean =>
  !matchesAny(deny, names) &&
  (allow === undefined || matchesAny(allow, names)) &&
  (!isTransitive || matchesAny(transitive, names));
