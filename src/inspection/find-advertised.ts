import type { FoundPack } from "../discovery/types.ts";
import type { InspectionPorts } from "./inspection-ports.ts";
import { loadDefinitions } from "./load-definitions.ts";

/** More packs than a person installs; beyond them it is not worth reading definitions for a suggestion. */
const maximumPacks = 200;

/**
 * Finds the tools of some packs that are advertised by certain names: people take those for names of items. Looks only
 * at definitions that are data, since a suggestion is not worth running code. Qualified names by advertised name.
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
