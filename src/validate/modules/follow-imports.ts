import { isBuiltin } from "node:module";
import { quote } from "../../problems/index.ts";
import type { NeededFile } from "../facts/needed-files.ts";
import type { ModuleFiles } from "./module-files.ts";
import type { WrittenImport } from "./parse-module.ts";

/** Limits on followed imports, to keep validation fast. */
export const maximumImported = 2000;
export const maximumBytes = 32 << 20;

export const isInPackage = (file: string) => !/^\.\.(?:\/|$)|(?:^|\/)node_modules\//.test(file);
/** Excludes TypeScript, which does not run after publishing. */
export const isJavaScript = (file: string) => /\.[cm]?js$/.test(file) && isInPackage(file);

/**
 * The needed files without duplicates, followed by every file of the package that they import transitively by relative
 * paths and every package.json that decides the format of one, each with the place of the first file that needs it. Imported files may not exist.
 */
export async function followImports(
  modules: ModuleFiles,
  needed: readonly NeededFile[],
): Promise<NeededFile[]> {
  const found = new Map<string, NeededFile>();
  for (const one of needed) if (!found.has(one.file)) found.set(one.file, one);
  const maximum = found.size + maximumImported;
  for (const one of found.values()) {
    if (!isJavaScript(one.file)) continue;
    if (found.size >= maximum || modules.bytesRead > maximumBytes) break;
    const manifest = modules.findDecisiveManifest(one.file);
    if (manifest !== undefined && !found.has(manifest)) found.set(manifest, { ...one, file: manifest });
    for (const file of await modules.listImports(one.file)) {
      if (!found.has(file) && found.size < maximum && isInPackage(file))
        found.set(file, { ...one, file, importer: one.file });
    }
  }
  return [...found.values()];
}

/** An import that Node cannot load. `hint` is absent if a build may create the file. */
export interface FailingImport {
  reason: string;
  hint?: string;
}

/** Modules of Node that only later versions than the oldest supported one have. */
const newerBuiltins = new Set(["node:ffi", "node:quic", "node:sea", "node:sqlite", "node:vfs"]);

/** Explains why an import fails whose specifier is a URL; `undefined` if it may work. */
function explainUrl({ specifier, kind }: WrittenImport): FailingImport | undefined {
  if (kind === "esm" && /^https?:/i.test(specifier))
    return {
      reason: `${quote(specifier, 200)}, which Node does not load`,
      hint: "Add a dependency instead.",
    };
  return specifier.startsWith("node:") && !isBuiltin(specifier) && !newerBuiltins.has(specifier)
    ? {
        reason: `${quote(specifier, 200)}, but Node ${process.version} has no such built-in module`,
        hint: "Correct the name of the built-in module.",
      }
    : undefined;
}

/**
 * The reason why a module of the package would fail: it transitively imports a missing file, a folder, or a URL that Node
 * does not load. Follows imports with literal paths, and ignores those in a `try` block or with a `.catch`.
 */
export async function findMissingImport(
  files: ModuleFiles,
  module: string,
): Promise<FailingImport | undefined> {
  const seen = new Set([module]);
  for (const importer of seen) {
    if (seen.size > maximumImported || files.bytesRead > maximumBytes) return undefined;
    for (const one of await files.listWritten(importer)) {
      const target = files.resolve(importer, one.specifier, one.kind);
      let failing: FailingImport | undefined;
      if (!("file" in target)) failing = explainUrl(one);
      else if (seen.has(target.file) || !isInPackage(target.file)) continue;
      else if ((await files.get(target.file)).kind === "absent")
        failing = { reason: `${quote(target.file, 200)}, which is not in the package` };
      else if (one.kind === "esm" && files.isFolder(target.file))
        failing = {
          reason: `${quote(target.file, 200)}, which is a folder`,
          hint: "Import a file, such as `index.js`: Node does not import folders.",
        };
      else seen.add(target.file);
      if (failing !== undefined && !files.isGuarded(importer, one))
        return { ...failing, reason: `${quote(importer, 200)} imports ${failing.reason}` };
    }
  }
  return undefined;
}
