import { posix } from "node:path";
import { findHandlers, parseHandler } from "../../extension-schema/handlers.ts";
import type { InspectedPack } from "../../inspection/types.ts";
import { findFailingImport } from "./failing-imports.ts";
import { ExportFinder, type ExportSearch } from "./find-export.ts";
import type { ModuleFiles } from "./module-files.ts";
import { findNearestFile, isTypeScript } from "./nearest-file.ts";

/** The facts about a module of handlers. */
export type ModuleFacts =
  /**
   * `nearest` is the path of a similar module, `isRelative` if the written path is relative to the definition; `source` is
   * the TypeScript that the module is compiled from; `hasFolder` tells whether the folder exists.
   */
  | {
      state: "missing";
      nearest: string | undefined;
      source?: string;
      isRelative?: boolean;
      hasFolder: boolean;
    }
  /** `nearest` is the module relative to the definition, or without the leading `../`. */
  | { state: "outside"; nearest: string | undefined }
  | {
      state: "present";
      /** By the name of the export. */
      searches: ReadonlyMap<string, ExportSearch>;
      /** The known exports. */
      exports: readonly string[];
    };

/** A pack, or the tools of a project. */
type WithHandlers = Pick<InspectedPack, "items"> & { pack: Pick<InspectedPack["pack"], "origin"> };

/** The uses of a module in handlers. */
interface NamedModule {
  exports: Set<string>;
  /** Folders of the definitions that use it. */
  folders: Set<string>;
}

/** The exports in handlers, by module. */
function findNamedExports({ items }: Pick<InspectedPack, "items">): Map<string, NamedModule> {
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

const exists = async (files: ModuleFiles, module: string) =>
  !["absent", "outside", "broken"].includes((await files.get(module)).kind);

/** Resolves a path relative to the folder of a definition, a common mistake, or without leading `../`. */
async function findRelative(
  files: ModuleFiles,
  module: string,
  { folders }: NamedModule,
): Promise<string | undefined> {
  for (const folder of folders) {
    const candidate = posix.join(folder, module);
    if (!candidate.startsWith("..") && (await exists(files, candidate))) return candidate;
  }
  const inside = module.replace(/^(?:\.\.\/)+/, "");
  return inside !== module && inside !== "" && (await exists(files, inside)) ? inside : undefined;
}

async function describeMissing(files: ModuleFiles, module: string, named: NamedModule): Promise<ModuleFacts> {
  const beside = findNearestFile(files, module);
  const hasFolder = beside !== undefined;
  const { nearest: near, source } = beside ?? {};
  if (source !== undefined) return { state: "missing", nearest: undefined, source, hasFolder };
  if (near !== undefined) return { state: "missing", nearest: near, hasFolder };
  if (isTypeScript(module)) return { state: "missing", nearest: undefined, hasFolder };
  const nearest = await findRelative(files, module, named);
  return { state: "missing", nearest, isRelative: true, hasFolder };
}

/** Rejects TypeScript in installed packs, which Node does not run. */
function judgeTypeScript(search: ExportSearch, { pack }: WithHandlers, module: string): ExportSearch {
  if (!/\.[cm]?ts$/.test(module) || (search !== "found" && "absent" in search)) return search;
  if (pack.origin !== "self" && pack.origin !== "workspace")
    return { absent: "Node does not run TypeScript in installed packages" };
  return "found";
}

/**
 * Collects facts about every module in the pack's handlers: whether it exists and has the exports. Parses modules without
 * running them. `followImports` also checks their imports, which takes longer.
 */
export async function collectModules(
  files: ModuleFiles,
  inspected: WithHandlers,
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
      const failing = isFollowed ? await findFailingImport(files, module) : undefined;
      for (const name of named.exports) {
        const search = judgeTypeScript(await finder.find(module, name), inspected, module);
        searches.set(
          name,
          search === "found" && failing !== undefined
            ? { absent: failing.reason, hint: failing.hint }
            : search,
        );
      }
      facts.set(module, { state: "present", searches, exports: await finder.list(module) });
    }
  }
  return facts;
}
