import { createProblem, type PackageManager } from "../problems/index.ts";
import type { FoundPack } from "./types.ts";

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type CompareVersions = (a: string | null, b: string | null) => number;

/** Semver order with invalid versions first. Loaded only if a pack has several copies. */
async function createVersionOrder(): Promise<CompareVersions> {
  const { default: SemVer } = await import("semver/classes/semver.js");
  const parse = (version: string | null) => {
    try {
      return version === null ? undefined : new SemVer(version);
    } catch {
      return undefined;
    }
  };
  return (a, b) => {
    const [first, second] = [parse(a), parse(b)];
    if (first === undefined || second === undefined) {
      return Number(first !== undefined) - Number(second !== undefined) || compareText(a ?? "", b ?? "");
    }
    return first.compare(second) || first.compareBuild(second);
  };
}

/** Sorts packs by name, version and location. */
export async function orderPacks(packs: FoundPack[]): Promise<FoundPack[]> {
  const hasCopies = new Set(packs.map(({ pack }) => pack.name)).size < packs.length;
  const compareVersions: CompareVersions = hasCopies ? await createVersionOrder() : () => 0;
  return packs.sort(
    ({ pack: a }, { pack: b }) =>
      compareText(a.name, b.name) ||
      compareVersions(a.version, b.version) ||
      compareText(a.location, b.location),
  );
}

/**
 * Selects one of several copies of a pack: the one that the project would resolve, or else the last in order (the highest
 * version). Marks the others as shadowed and reports them. Expects sorted packs.
 */
export function shadowCopies(
  packs: readonly FoundPack[],
  resolveFromProject: (name: string) => string | undefined,
  findManager: () => PackageManager,
): void {
  const copiesByName = new Map<string, FoundPack["pack"][]>();
  for (const { pack } of packs) {
    const copies = copiesByName.get(pack.name);
    if (copies === undefined) copiesByName.set(pack.name, [pack]);
    else copies.push(pack);
  }
  for (const [name, copies] of copiesByName) {
    if (copies.length < 2) continue;
    const resolved = resolveFromProject(name);
    const winner =
      copies.find(({ origin }) => origin === "self") ??
      copies.find(({ location }) => location === resolved) ??
      // Declared under an alias.
      copies.findLast(({ origin }) => origin === "direct" || origin === "workspace") ??
      copies.findLast(({ origin }) => origin !== "global") ??
      copies.at(-1);
    for (const copy of copies) {
      if (copy === winner || winner === undefined) continue;
      copy.shadowed = true;
      const { version, location } = winner;
      const args = { name, version: copy.version, winner: version, location, manager: findManager() };
      copy.problems.push(createProblem("ShadowedPack", args, { pack: name }));
    }
  }
}
