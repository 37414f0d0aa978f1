import { isItemAllowed } from "../config/packs-policy.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { DefinitionLibrary } from "../inspection/definition-library.ts";
import { findReferredTools, type OwnedItem } from "../inspection/referred-tools.ts";
import { resolveReference, SuggestionBudget } from "../qualified-names/index.ts";
import type { ServeSources } from "./compose-server.ts";

/**
 * Creates a function that reads the definitions of a pack on its first call, and returns the qualified names of the tools
 * and bundles that they refer to.
 */
export function createReferences(
  { ports, config, approval }: Pick<ServeSources, "ports" | "config" | "approval">,
  found: FoundPacks,
  builtIns: readonly string[],
): (pack: DiscoveredPack) => Promise<ReadonlySet<string>> {
  const packs = found.packs.map(({ pack }) => pack);
  const suggestions = new SuggestionBudget(0);
  const known = new Map<DiscoveredPack, Promise<ReadonlySet<string>>>();

  async function read(pack: DiscoveredPack): Promise<ReadonlySet<string>> {
    const library = new DefinitionLibrary(
      ports.port,
      found.packs,
      { createEvaluator: () => ports.createEvaluator({}) },
      (loaded) => approval?.approve(loaded) ?? loaded,
    );
    const load = async (kind: "server" | "toolset", names: readonly string[]): Promise<OwnedItem[]> => {
      const items = await library.load(kind, names);
      return items.flatMap((item): OwnedItem[] => {
        const owner = library.sourceOf(item)?.pack;
        const isAllowed =
          owner !== undefined &&
          isItemAllowed(config.packs, owner.qualifiedName, item.qualifiedName, { isTransitive: false });
        // What is not approved widens nothing.
        return isAllowed && approval?.isRefused(item) !== true ? [{ item, pack: owner }] : [];
      });
    };
    const namesOf = (items: readonly { qualifiedName: string }[]) =>
      items.map(({ qualifiedName }) => qualifiedName);
    const definitions = [
      ...(await load("server", namesOf(pack.servers))),
      ...(await load("toolset", namesOf(pack.toolsets))),
    ];
    return findReferredTools(definitions, {
      resolve: (reference, from, kind) =>
        resolveReference(reference, { from, kind, packs, builtIns, suggestions }).qualifiedName,
      findToolset: async (qualifiedName) => (await load("toolset", [qualifiedName]))[0],
    });
  }

  return (pack) => {
    const reading = known.get(pack) ?? read(pack);
    known.set(pack, reading);
    return reading;
  };
}
