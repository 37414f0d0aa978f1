import type { DiscoveredPack, FoundPack } from "../../discovery/types.ts";
import { findReferences } from "../../extension-schema/references.ts";
import type { InspectionPorts } from "../../inspection/inspection-ports.ts";
import { loadDefinitions } from "../../inspection/load-definitions.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { resolveReference, SuggestionBudget } from "../../qualified-names/index.ts";

/**
 * Finds the toolsets that each toolset includes, from those of a pack through the installed packs that they reach.
 * Returns qualified names by qualified name. Reads only definitions of other packs that are data, and ignores references
 * and definitions that are not valid.
 */
export async function findIncludedToolsets(
  { port, createEvaluator }: InspectionPorts,
  packs: readonly FoundPack[],
  own: InspectedPack,
): Promise<Map<string, string[]>> {
  const discovered = packs.map(({ pack }) => pack);
  const unread = new Map(
    packs.flatMap((one) => (one.pack.shadowed ? [] : [[one.pack.qualifiedName, one] as const])),
  );
  unread.delete(own.pack.qualifiedName);
  const toolsets = new Map<string, { item: InspectedItem; pack: DiscoveredPack }>();
  const add = ({ items, pack }: InspectedPack) => {
    for (const item of items) {
      if (item.declaration.kind === "toolset") toolsets.set(item.qualifiedName, { item, pack });
    }
  };
  add(own);
  // Failures are not reported here, so they need no suggestions.
  const suggestions = new SuggestionBudget(0);
  const included = new Map<string, string[]>([...toolsets.keys()].map((name) => [name, []]));
  // The loop also visits the toolsets that it adds.
  for (const [name, members] of included) {
    const packName = name.slice(0, name.lastIndexOf("/"));
    const found = unread.get(packName);
    if (found !== undefined) {
      unread.delete(packName);
      const loaded = await loadDefinitions(port, found, {
        dataOnly: true,
        only: found.extension.toolsets,
        createEvaluator: () => createEvaluator({ dataOnly: true }),
      });
      add(loaded);
    }
    const toolset = toolsets.get(name);
    if (toolset === undefined) continue;
    for (const { reference, kind } of findReferences(toolset.item)) {
      if (kind !== "toolset") continue;
      try {
        const context = { from: toolset.pack, kind, packs: discovered, suggestions };
        const { qualifiedName } = resolveReference(reference, context);
        members.push(qualifiedName);
        if (!included.has(qualifiedName)) included.set(qualifiedName, []);
      } catch {
        // The check of references reports those of the pack itself.
      }
    }
  }
  return included;
}
