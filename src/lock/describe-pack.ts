import { isRecord } from "../data/parse-json.ts";
import type { FoundPack } from "../discovery/types.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind } from "../kinds.ts";
import { UnrecordableError } from "./canonical-json.ts";
import { describeItem } from "./describe-items.ts";
import { hashSurface } from "./lock-file.ts";
import type { LockedItem, LockedPack } from "./types.ts";

/** The needs that a pack declares, sorted; `undefined` for a pack that declares none. An empty array says that it needs none. */
export function describeNeeds({ extension: { needs } }: FoundPack): LockedItem | undefined {
  if (needs === undefined) return undefined;
  const entries = Object.entries(needs) as [string, readonly string[]][];
  return Object.fromEntries(entries.map(([key, list]) => [key, [...new Set(list)].sort()]));
}

/** Kinds of items whose code or program runs. */
export const runsCode = ({ declaration, shape, definition }: InspectedItem): boolean =>
  declaration.kind === "tool" ||
  shape === "subprocessServer" ||
  shape === "toolsBundle" ||
  definition?.handler !== undefined ||
  definition?.initialize !== undefined ||
  definition?.subscribe !== undefined ||
  Object.values(isRecord(definition?.complete) ? definition.complete : {}).some((one) => !Array.isArray(one));

/** An item as the lock records it; `undefined` for one without a valid definition, or that cannot be recorded. */
export function describeRecordable(
  inspected: InspectedPack,
  item: InspectedItem,
  known?: LockedItem,
): LockedItem | undefined {
  try {
    return describeItem(inspected, item, known);
  } catch (error) {
    if (error instanceof UnrecordableError) return undefined;
    throw error;
  }
}

/** Describes the items of a pack that have valid definitions. `isWanted` leaves out others. */
export function describePack(
  inspected: InspectedPack,
  isWanted: (item: InspectedItem) => boolean = () => true,
): LockedPack {
  const items = new Map<string, [string, LockedItem][]>();
  for (const item of inspected.items) {
    const described = isWanted(item) ? describeRecordable(inspected, item) : undefined;
    if (described === undefined) continue;
    const { kind, name } = item.declaration;
    items.set(keyOfKind[kind], [...(items.get(keyOfKind[kind]) ?? []), [name, described]]);
  }
  const { version } = inspected.pack;
  const needs = describeNeeds(inspected);
  const byKind = [...items].map(([key, entries]) => [key, Object.fromEntries(entries)] as const);
  const entry: LockedPack = {
    ...(version === null ? {} : { version }),
    surface: "",
    ...(needs === undefined ? {} : { needs }),
    ...Object.fromEntries(byKind),
  };
  return { ...entry, surface: hashSurface(entry) };
}
