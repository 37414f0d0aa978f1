import { posix } from "node:path";
import { findHandlers, parseHandler } from "../../extension-schema/handlers.ts";
import type { InspectedPack } from "../../inspection/types.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { ExportFinder, type ExportSearch } from "./find-export.ts";
import { findMissingImport } from "./follow-imports.ts";
import type { ModuleFiles } from "./module-files.ts";

/** A module that handlers name. */
export type ModuleFacts =
  /**
   * `nearest` is the path of a module that may be meant, `isRelative` if it is written relative to the definition;
   * `hasFolder` whether there is at least its folder.
   */
  | { state: "missing"; nearest: string | undefined; isRelative?: boolean; hasFolder: boolean }
  /** `nearest` is what the path leads to relative to the definition, or without the steps out of the package. */
  | { state: "outside"; nearest: string | undefined }
  | {
      state: "there";
      /** By the export that a handler names. */
      searches: ReadonlyMap<string, ExportSearch>;
      /** Names that it is known to export. */
      exports: readonly string[];
    };

/** What handlers say of one module. */
interface NamedModule {
  exports: Set<string>;
  /** Folders of the definitions that name it. */
  folders: Set<string>;
}

/** The exports that handlers name, by module. */
function findNamedExports({ items }: InspectedPack): Map<string, NamedModule> {
  const named = new Map<string, NamedModule>();
  for (const item of items) {
    for (const { handler } of findHandlers(item)) {
      const place = typeof handler === "string" ? parseHandler(handler) : undefined;
      if (place === undefined || "fault" in place) continue;
      const module = named.get(place.module) ?? { exports: new Set(), folders: new Set() };
      named.set(place.module, module);
      module.exports.add(place.exportName);
      if (item.file !== null) module.folders.add(posix.dirname(item.file));
    }
  }
  return named;
}

const isThere = async (files: ModuleFiles, module: string) =>
  !["absent", "outside", "broken"].includes((await files.get(module)).kind);

/** The module that a path leads to from the folder of a definition that names it, as paths of modules do elsewhere. */
async function findRelative(
  files: ModuleFiles,
  module: string,
  { folders }: NamedModule,
): Promise<string | undefined> {
  for (const folder of folders) {
    const candidate = posix.join(folder, module);
    if (!candidate.startsWith("..") && (await isThere(files, candidate))) return candidate;
  }
  const inside = module.replace(/^(?:\.\.\/)+/, "");
  return inside !== module && inside !== "" && (await isThere(files, inside)) ? inside : undefined;
}

/** A file beside where a missing one is looked for that is called nearly the same; `undefined` without such a folder. */
export function findNearestFile(
  files: ModuleFiles,
  file: string,
): { nearest: string | undefined } | undefined {
  const neighbours = files.listNeighbours(file);
  if (neighbours === undefined) return undefined;
  const name = posix.basename(file);
  const guess = neighbours.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, neighbours)[0];
  return { nearest: guess === undefined ? undefined : posix.join(posix.dirname(file), guess) };
}

async function describeMissing(files: ModuleFiles, module: string, named: NamedModule): Promise<ModuleFacts> {
  const beside = findNearestFile(files, module);
  const hasFolder = beside !== undefined;
  if (beside?.nearest !== undefined) return { state: "missing", nearest: beside.nearest, hasFolder };
  const nearest = await findRelative(files, module, named);
  return { state: "missing", nearest, isRelative: true, hasFolder };
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
 * name. Opens and parses modules; runs nothing. `followImports` looks at what they import too, which takes longer.
 */
export async function collectModules(
  files: ModuleFiles,
  inspected: InspectedPack,
  { followImports = false }: { followImports?: boolean } = {},
): Promise<Map<string, ModuleFacts>> {
  const facts = new Map<string, ModuleFacts>();
  const finder = new ExportFinder(files);
  for (const [module, named] of findNamedExports(inspected)) {
    const { kind } = await files.get(module);
    if (kind === "outside") {
      facts.set(module, { state: "outside", nearest: await findRelative(files, module, named) });
    } else if (kind === "absent") facts.set(module, await describeMissing(files, module, named));
    else {
      const searches = new Map<string, ExportSearch>();
      const isFollowed = followImports && /\.[cm]?js$/.test(module);
      const missing = isFollowed ? await findMissingImport(files, module) : undefined;
      const hint = "If it is built, build it before you validate.";
      for (const name of named.exports) {
        const search = judgeTypeScript(await finder.find(module, name), inspected, module);
        searches.set(name, search === "found" && missing !== undefined ? { absent: missing, hint } : search);
      }
      facts.set(module, { state: "there", searches, exports: await finder.list(module) });
    }
  }
  return facts;
}
