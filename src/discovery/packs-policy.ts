import type { DiscoveryPort } from "../io/discovery-port.ts";
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
  const { packs, faults } = readPacksConfig(text?.value, { reportMisspelt: true });
  const [first, ...others] = await describeConfigFaults(faults, text);
  if (first !== undefined) throw configFailure([first, ...others]);
  return packs;
}

/**
 * True if a qualified name of a pack (`acme/jira`) or of an item (`acme/jira/createIssue`) fits a pattern, which may
 * begin with `@`. `*` never crosses a slash, so a pattern of a pack fits no item's name.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = pattern.replace(/^@/, "").split("/");
  const given = name.split("/");
  return (
    wanted.length === given.length && wanted.every((part, index) => matchesSegment(part, given[index] ?? ""))
  );
}

function matchesSegment(pattern: string, segment: string): boolean {
  const source = pattern
    .split(/\*+/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`).test(segment);
}

const matchesAny = (patterns: readonly string[], names: readonly string[]) =>
  patterns.some((pattern) => names.some((name) => matchesPattern(pattern, name)));

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
