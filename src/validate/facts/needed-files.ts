import { findHandlers, parseHandler } from "../../extension-schema/handlers.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { findNeededPaths } from "./programs.ts";

/** A file of the package without which an item does not work, and where the item's definition says so. */
export interface NeededFile {
  /** Relative to the package, with `/`. It need not exist. */
  file: string;
  item: InspectedItem;
  /** From the definition's top; `undefined` for the definition file itself. */
  path: Path | undefined;
  /** The module that imports it, where the definition itself does not name it. */
  importer?: string;
}

/** Every file that items name: their definitions, the modules of their handlers, the programs of their servers. */
export function findNeededFiles(items: readonly InspectedItem[]): NeededFile[] {
  const needed: NeededFile[] = [];
  for (const item of items) {
    if (item.file !== null) needed.push({ file: item.file, item, path: undefined });
    for (const { handler, path } of findHandlers(item)) {
      const place = typeof handler === "string" ? parseHandler(handler) : undefined;
      if (place !== undefined && "module" in place) needed.push({ file: place.module, item, path });
    }
    for (const { location, wanted, path } of findNeededPaths(item)) {
      if (wanted === "file") needed.push({ file: location, item, path });
    }
  }
  return needed;
}
