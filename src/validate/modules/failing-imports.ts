import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { ExportFinder } from "./find-export.ts";
import { isInPackage, maximumBytes, maximumImported } from "./follow-imports.ts";
import type { ModuleFiles } from "./module-files.ts";
import { findNearestFile, hintForSource } from "./nearest-file.ts";
import type { WrittenImport } from "./parse-module.ts";

/** An import that Node cannot load. */
export interface FailingImport {
  reason: string;
  hint: string;
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

/** The hint for a missing file that a module imports. */
function hintForMissing(files: ModuleFiles, importer: string, file: string): string {
  const { nearest, source } = findNearestFile(files, file) ?? {};
  if (source !== undefined) return hintForSource(source);
  if (nearest === undefined) return "If a build creates it, run the build first.";
  const path = posix.relative(posix.dirname(importer), nearest);
  return `Did you mean ${quote(path.startsWith(".") ? path : `./${path}`, 200)}?`;
}

/** Explains why an existing file cannot be imported as it is written; `undefined` if it can, or if that is unknown. */
async function explainFile(
  files: ModuleFiles,
  file: string,
  { kind, specifier, isJson }: WrittenImport,
): Promise<FailingImport | undefined> {
  if (kind !== "esm") return undefined;
  if (files.isFolder(file))
    return {
      reason: `${quote(file, 200)}, which is a folder`,
      hint: "Import a file, such as `index.js`: Node does not import folders.",
    };
  if (file.endsWith(".json"))
    return isJson
      ? undefined
      : {
          reason: `${quote(file, 200)} without saying that it is JSON`,
          hint: `Add \`with { type: "json" }\` after ${quote(specifier, 200)}.`,
        };
  if ((await files.get(file)).kind !== "foreign" || file.endsWith(".wasm")) return undefined;
  return {
    reason: `${quote(file, 200)}, which Node cannot import`,
    hint: "Import JavaScript or JSON. Read other files with `readFile` of `node:fs/promises`.",
  };
}

/** Finds a name that an import takes from a module of the package, but that the module certainly does not export. */
async function findMissingName(
  files: ModuleFiles,
  finder: ExportFinder,
  file: string,
  { names = [] }: WrittenImport,
  broken: ReadonlySet<string>,
): Promise<FailingImport | undefined> {
  for (const name of names) {
    const search = await finder.find(file, name);
    if (search === "found" || !("absent" in search) || search.module === undefined) continue;
    const { kind } = await files.get(search.module);
    if ((kind !== "esm" && kind !== "commonjs") || broken.has(search.module)) continue;
    const exports = await finder.list(file);
    return {
      reason: `${quote(name)} from ${quote(file, 200)}, which does not export it`,
      hint:
        exports.length === 0
          ? "Export it there, or remove the import."
          : `Export it there, or import one of: ${exports.slice(0, 10).join(", ")}.`,
    };
  }
  return undefined;
}

/**
 * The reason why a module of the package would fail to load: it transitively imports a missing file, a name that a module
 * does not export, or something that Node does not load. Follows imports with literal paths, and ignores those in a `try`
 * block or with a `.catch`, and names that modules in `broken` lack.
 */
export async function findFailingImport(
  files: ModuleFiles,
  module: string,
  broken: ReadonlySet<string>,
): Promise<FailingImport | undefined> {
  const finder = new ExportFinder(files);
  const seen = new Set([module]);
  for (const importer of seen) {
    if (seen.size > maximumImported || files.bytesRead > maximumBytes) return undefined;
    for (const one of await files.listWritten(importer)) {
      const target = files.resolve(importer, one.specifier, one.kind);
      let failing: FailingImport | undefined;
      if (!("file" in target)) failing = explainUrl(one);
      else if (!isInPackage(target.file)) continue;
      else if ((await files.get(target.file)).kind === "absent")
        failing = {
          reason: `${quote(target.file, 200)}, which is not in the package`,
          hint: hintForMissing(files, importer, target.file),
        };
      else {
        // Each import of JSON must say so.
        const isKnown = seen.has(target.file) && !target.file.endsWith(".json");
        failing = isKnown ? undefined : await explainFile(files, target.file, one);
        if (failing === undefined && !broken.has(importer))
          failing = await findMissingName(files, finder, target.file, one, broken);
        if (failing === undefined) seen.add(target.file);
      }
      if (failing !== undefined && !files.isGuarded(importer, one))
        return { ...failing, reason: `${quote(importer, 200)} imports ${failing.reason}` };
    }
  }
  return undefined;
}
