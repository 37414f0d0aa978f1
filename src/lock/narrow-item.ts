import { findReferences } from "../extension-schema/references.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { describeMember } from "./describe-items.ts";
import type { LockedItem } from "./types.ts";

/** The same item without the references that its entry in the lock does not have. */
export function narrowItem({ pack }: InspectedPack, item: InspectedItem, locked: LockedItem): InspectedItem {
  const approved = new Set(Array.isArray(locked.members) ? locked.members : []);
  const definition = { ...item.definition };
  const dropped = new Map<string, Set<number>>();
  for (const written of findReferences(item)) {
    if (approved.has(describeMember(written, pack))) continue;
    const [key, index] = written.path;
    dropped.set(String(key), (dropped.get(String(key)) ?? new Set()).add(Number(index)));
  }
  for (const [key, indexes] of dropped) {
    const list = definition[key];
    if (Array.isArray(list)) definition[key] = list.filter((_, index) => !indexes.has(index));
  }
  return { ...item, definition };
}
