import type { DiscoveryPort } from "../files/discovery-port.ts";
import { createProblem } from "../problems/index.ts";
import { resolveFrom } from "./package-folders.ts";
import { managerIn } from "./project-manager.ts";
import { type FoundPack, isDeclaredOrigin } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Selects one of several copies of a pack: one that the project declares, then one that its config names, then another; of
 * these the project itself, the one that the project would resolve, or else the last in order, which has the highest
 * version. Marks the others as shadowed and reports them. Expects sorted packs. `isNamed`:
 * whether the config names a pack.
 */
export function shadowCopies(
  packs: readonly FoundPack[],
  { port, workspace }: { port: DiscoveryPort; workspace: Workspace },
  isNamed: (found: FoundPack) => boolean,
): void {
  const names = packs.map(({ pack }) => pack.name);
  for (const name of new Set(names.filter((one, index) => one === names[index - 1]))) {
    const copies = packs.filter(({ pack }) => pack.name === name);
    const resolved = resolveFrom(port, workspace.project.directory, name);
    const rankOf = (found: FoundPack) => {
      const { origin, location } = found.pack;
      const tier = isDeclaredOrigin(origin) ? 0 : origin === "global" ? 3 : isNamed(found) ? 1 : 2;
      return 3 * tier + (origin === "self" ? 0 : location === resolved ? 1 : 2);
    };
    const winner = copies.reduceRight((best, one) => (rankOf(one) < rankOf(best) ? one : best));
    const manager = managerIn(port, workspace);
    for (const { pack: copy } of copies) {
      if (copy === winner.pack) continue;
      copy.shadowed = true;
      const { version, location } = winner.pack;
      const args = { name, version: copy.version, winner: version, location, manager };
      copy.problems.push(createProblem("ShadowedPack", args, { pack: name }));
    }
  }
}
