import { lazy, memoize } from "../data/memoize.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { allItems, type Kind } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";
import { createDefinitionReader, type ReadOptions } from "./load-definitions.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

export type DefinitionLibrary = ReturnType<typeof createLibrary>;

/** Loads definitions of single items on demand, each once. `check` may replace the items of a pack before they are used. */
export function createLibrary(
  port: InspectionPort,
  found: FoundPacks,
  options: ReadOptions,
  check = async (loaded: InspectedPack) => loaded,
) {
  const problems: Problem[] = [];
  const items = new Map<string, InspectedItem>();
  /** A pack's declarations are known by kind and qualified name, because a server may need thousands one by one. */
  const open = memoize((pack: FoundPack) => ({
    read: createDefinitionReader(port, pack, options),
    declared: new Map(
      allItems(pack.extension).map((one) => [`${one.kind} ${pack.pack.qualifiedName}/${one.name}`, one]),
    ),
  }));
  /** Adds definitions that were loaded elsewhere; their problems are not reported again. */
  const add = (loaded: InspectedPack) => {
    for (const item of loaded.items) items.set(`${item.declaration.kind} ${item.qualifiedName}`, item);
  };
  return {
    found,
    problems,
    add,
    manager: lazy(() => managerIn(port, found.workspace)),
    lookUp: (references: readonly { reference: string }[], from: DiscoveredPack | "user") =>
      lookUpReferences(port, found, references, from),
    /** Loads the definitions of some items of one kind, in the order of their qualified names. */
    async load(kind: Kind, qualifiedNames: readonly string[]): Promise<InspectedItem[]> {
      const keys = [...new Set(qualifiedNames)].map((name) => `${kind} ${name}`);
      const missing = keys.filter((key) => !items.has(key));
      for (const pack of missing.length === 0 ? [] : found.packs) {
        if (pack.pack.shadowed) continue;
        const { read, declared } = open(pack);
        const only = missing.flatMap((key) => declared.get(key) ?? []);
        if (only.length === 0) continue;
        const loaded = await check(await read(only));
        problems.push(...loaded.problems);
        add(loaded);
      }
      return qualifiedNames.flatMap((name) => items.get(`${kind} ${name}`) ?? []);
    },
  };
}
