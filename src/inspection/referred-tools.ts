import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import type { Kind } from "../kinds.ts";
import { TrailblazeError } from "../problems/index.ts";
import type { InspectedItem } from "./types.ts";

/** An item and its pack. */
export interface OwnedItem {
  item: InspectedItem;
  pack: DiscoveredPack;
}

/** How references are followed. */
export interface ReferenceReader {
  /** The qualified name that a reference in a definition of `from` means. Throws `TrailblazeError` if there is none. */
  resolve(reference: string, from: DiscoveredPack, kind: Kind): string;
  /** `undefined` if the toolset is not available. */
  findToolset(qualifiedName: string): Promise<OwnedItem | undefined>;
}

/**
 * The qualified names of the tools and bundles of packs that definitions refer to, directly or through toolsets. References
 * that cannot be resolved are ignored.
 */
export async function findReferredTools(
  definitions: readonly OwnedItem[],
  { resolve, findToolset }: ReferenceReader,
): Promise<Set<string>> {
  const found = new Set<string>();
  const seen = new Set<InspectedItem>();
  const pending = [...definitions];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { item, pack } = next;
    if (seen.has(item)) continue;
    seen.add(item);
    for (const { reference, kind } of findReferences(item)) {
      if (kind !== "tool" && kind !== "toolset") continue;
      try {
        const qualifiedName = resolve(reference, pack, kind);
        const toolset = kind === "toolset" ? await findToolset(qualifiedName) : undefined;
        if (kind === "tool" || toolset?.item.shape === "toolsBundle") found.add(qualifiedName);
        else if (toolset !== undefined) pending.push(toolset);
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
      }
    }
  }
  return found;
}
