import { posix } from "node:path";
import { findHandlers, parseHandler } from "../../extension-schema/handlers.ts";
import { findNodeScript, isNode } from "../../extension-schema/node-script.ts";
import { isModulePath } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";

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

/** A file or a folder of the package that a subprocess server cannot start without. */
export interface NeededPath {
  /** As it is written. */
  written: string;
  /** Relative to the package, in its shortest form; not yet checked to stay inside. */
  location: string;
  wanted: "file" | "folder";
  /** From the definition's top. */
  path: Path;
}

/**
 * The `script` and the `cwd` of a subprocess server, and what takes the place of a script: a `command` that is a path,
 * or the module that `node` is to run. Other arguments are the program's own business.
 */
export function findNeededPaths({ shape, definition }: InspectedItem): NeededPath[] {
  if (shape !== "subprocessServer" || definition === null) return [];
  const { script, command, args, cwd } = definition;
  const folder = typeof cwd === "string" ? cwd : ".";
  const needed: NeededPath[] = [];
  const add = (written: string, from: string, wanted: NeededPath["wanted"], path: Path) => {
    const isAbsolute = posix.isAbsolute(written) || /^[A-Za-z]:/.test(written);
    const location = isAbsolute ? written : posix.normalize(posix.join(from, written));
    needed.push({ written, location, wanted, path });
  };
  if (typeof cwd === "string") add(cwd, ".", "folder", ["cwd"]);
  if (typeof script === "string") add(script, ".", "file", ["script"]);
  if (typeof command === "string") {
    if (isModulePath(command)) add(command, folder, "file", ["command"]);
    const list: unknown[] = isNode(command) && Array.isArray(args) ? args : [];
    const index = findNodeScript(list);
    const run = list[index];
    if (typeof run === "string" && isModulePath(run)) add(run, folder, "file", ["args", index]);
  }
  return needed;
}
