import { posix } from "node:path";
import { findNearestNames } from "../../qualified-names/index.ts";
import { findHandlers, parseHandler } from "../handlers.ts";
import type { InspectedPack } from "../types.ts";
import { ExportFinder, type ExportSearch } from "./find-export.ts";
import type { ModuleFiles } from "./module-files.ts";

/** A module that handlers name. */
export type ModuleFacts =
  /** `nearest` is the path of a module that may be meant; `hasFolder` whether there is at least its folder. */
  | { state: "missing"; nearest: string | undefined; hasFolder: boolean }
  | { state: "outside" }
  | {
      state: "there";
      /** By the export that a handler names. */
      searches: ReadonlyMap<string, ExportSearch>;
      /** Names that it is known to export. */
      exports: readonly string[];
    };

/** The exports that handlers name, by module. */
function findNamedExports({ items }: InspectedPack): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const item of items) {
    for (const { handler } of findHandlers(item)) {
      const place = typeof handler === "string" ? parseHandler(handler) : undefined;
      if (place === undefined || "fault" in place) continue;
      const exports = named.get(place.module);
      if (exports === undefined) named.set(place.module, new Set([place.exportName]));
      else exports.add(place.exportName);
    }
  }
  return named;
}

function describeMissing(files: ModuleFiles, module: string): ModuleFacts {
  const neighbours = files.listNeighbours(module);
  const name = posix.basename(module);
  const guess =
    neighbours?.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, neighbours ?? [])[0];
  const nearest = guess === undefined ? undefined : posix.join(posix.dirname(module), guess);
  return { state: "missing", nearest, hasFolder: neighbours !== undefined };
}

/** TypeScript is a matter of packs under development: Node runs none that is installed. */
function judgeTypeScript(search: ExportSearch, { pack }: InspectedPack, module: string): ExportSearch {
  if (!/\.[cm]?ts$/.test(module) || (search !== "found" && "absent" in search)) return search;
  if (pack.origin !== "self" && pack.origin !== "workspace")
    return { absent: "Node runs no TypeScript of installed packages" };
  return { unclear: "it is TypeScript, which Node runs only while the pack is under development" };
}

/**
 * Finds out, for every module that a handler of the pack names, whether it is there and has the exports that handlers
 * name. Opens and parses modules; runs nothing.
 */
export async function gatherModules(
  files: ModuleFiles,
  inspected: InspectedPack,
): Promise<Map<string, ModuleFacts>> {
  const facts = new Map<string, ModuleFacts>();
  const finder = new ExportFinder(files);
  for (const [module, named] of findNamedExports(inspected)) {
    const { kind } = await files.get(module);
    if (kind === "outside") facts.set(module, { state: "outside" });
    else if (kind === "absent") facts.set(module, describeMissing(files, module));
    else {
      const searches = new Map<string, ExportSearch>();
      for (const name of named) {
        searches.set(name, judgeTypeScript(await finder.find(module, name), inspected, module));
      }
      facts.set(module, { state: "there", searches, exports: await finder.list(module) });
    }
  }
  return facts;
}
