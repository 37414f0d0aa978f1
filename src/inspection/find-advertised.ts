import type { FoundPack } from "../discovery/types.ts";
import type { InspectionPorts } from "./inspection-ports.ts";
import { loadDefinitions } from "./load-definitions.ts";

/** Limit on the packs whose definitions are read for a suggestion. */
const maximumPacks = 200;

/**
 * Finds tools by advertised names, which people confuse with item names. Returns qualified names by advertised name. Reads
 * only definitions that are data, because a suggestion does not justify running code.
 */
export async function findAdvertised(
  { port, createEvaluator }: Pick<InspectionPorts, "port" | "createEvaluator">,
  packs: readonly FoundPack[],
  names: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  if (names.size === 0) return found;
  for (const one of packs.slice(0, maximumPacks)) {
    if (one.pack.shadowed || one.extension.tools.length === 0) continue;
    const { items } = await loadDefinitions(port, one, {
      dataOnly: true,
      only: one.extension.tools,
      createEvaluator: () => createEvaluator({ dataOnly: true }),
    });
    for (const { definition, qualifiedName } of items) {
      const name = definition?.name;
      if (typeof name === "string" && names.has(name) && !found.has(name)) found.set(name, qualifiedName);
    }
  }
  return found;
}
