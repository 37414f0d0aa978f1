import { isAllowed, matchesAny, type PacksPolicy } from "../config/packs-policy.ts";
import { isNeededForTools } from "../config/tool-policy.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { allItems } from "../kinds.ts";
import type { FoundPacks } from "./find-packs.ts";
import { type FoundPack, isDeclaredOrigin, isUnasked } from "./types.ts";

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts packs by name, version and location. Versions are in semver order, invalid ones first. */
async function orderPacks(packs: FoundPack[]): Promise<FoundPack[]> {
  const hasCopies = new Set(packs.map(({ pack }) => pack.name)).size < packs.length;
  const parse = hasCopies ? (await import("semver/functions/parse.js")).default : () => null;
  const compareVersions = (a: string | null, b: string | null) => {
    const [first, second] = [parse(a), parse(b)];
    if (first === null || second === null)
      return Number(first !== null) - Number(second !== null) || compareText(a ?? "", b ?? "");
    return first.compare(second) || first.compareBuild(second);
  };
  return packs.sort(
    ({ pack: a }, { pack: b }) =>
      compareText(a.name, b.name) ||
      compareVersions(a.version, b.version) ||
      compareText(a.location, b.location),
  );
}

export function itemNames({ pack }: FoundPack): string[] {
  return allItems(pack).map((item) => item.qualifiedName);
}

export function isNamed({ transitive }: PacksPolicy, found: FoundPack): boolean {
  return transitive.length > 0 && matchesAny(transitive, [found.pack.qualifiedName, ...itemNames(found)]);
}

/** Whether sessions use a pack, according to package.json files and the policy. */
export function decideEnabled(policy: PacksPolicy, found: FoundPack): boolean | "onDemand" {
  const { qualifiedName: pack, origin, shadowed, servers } = found.pack;
  if (!found.isUsable || shadowed || origin === "global") return false;
  const names = itemNames(found);
  const items = new Set(names);
  const isTaken = (isTransitive: boolean) =>
    (names.length === 0 ? [pack] : names).some((name) => isAllowed(policy, [pack, name], isTransitive)) ||
    servers.some((one) => isNeededForTools(policy, { pack, server: one.qualifiedName, items }, isTransitive));
  const isDeclared = isDeclaredOrigin(origin);
  if (isTaken(!isDeclared)) return true;
  return !isDeclared && isTaken(false) ? "onDemand" : false;
}

export async function rankPacks(
  packs: FoundPack[],
  context: Pick<FoundPacks, "workspace" | "policy"> & { port: DiscoveryPort },
): Promise<FoundPack[]> {
  const ordered = await orderPacks(packs);
  if (ordered.some(({ pack }, index) => pack.name === ordered[index - 1]?.pack.name)) {
    const { shadowCopies } = await import("./shadow-copies.ts");
    shadowCopies(ordered, context, (found) => isNamed(context.policy, found));
  }
  for (const found of ordered) found.pack.enabled = decideEnabled(context.policy, found);
  if (ordered.some(isUnasked)) (await import("./pack-skills.ts")).markUnapproved(ordered, context);
  return ordered;
}
