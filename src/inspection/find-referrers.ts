import type { FoundPacks } from "../discovery/find-packs.ts";
import { findReferences } from "../extension-schema/references.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import { resolveReference, SuggestionBudget } from "../qualified-names/index.ts";
import type { InspectionPorts } from "./inspect.ts";
import { loadDefinitions } from "./load-definitions.ts";

/** An item whose definition refers to another one. */
export interface Referrer {
  kind: Kind;
  qualifiedName: string;
}

/**
 * Finds the servers and toolsets of installed packs that refer to an item. Reads only definitions that are data: this
 * information does not justify running code.
 */
export async function findReferrers(
  { port, createEvaluator }: InspectionPorts,
  found: FoundPacks,
  target: { kind: Kind; qualifiedName: string },
): Promise<Referrer[]> {
  const packs = found.packs.map(({ pack }) => pack);
  const referrers: Referrer[] = [];
  // Failures are not reported here, so they need no suggestions.
  const suggestions = new SuggestionBudget(0);
  for (const one of found.packs) {
    if (one.pack.shadowed) continue;
    const only = [...one.extension[keyOfKind.server], ...one.extension[keyOfKind.toolset]];
    if (only.length === 0) continue;
    const { items } = await loadDefinitions(port, one, {
      dataOnly: true,
      only,
      createEvaluator: () => createEvaluator({ dataOnly: true }),
    });
    for (const item of items) {
      const refers = findReferences(item).some(({ reference, kind }) => {
        if (kind !== target.kind) return false;
        try {
          return (
            resolveReference(reference, { from: one.pack, kind, packs, suggestions }).qualifiedName ===
            target.qualifiedName
          );
        } catch {
          return false;
        }
      });
      if (refers) referrers.push({ kind: item.declaration.kind, qualifiedName: item.qualifiedName });
    }
  }
  return referrers;
}
