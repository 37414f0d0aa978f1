import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
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
  { kind }: WrittenImport,
): Promise<FailingImport | undefined> {
  if (kind !== "esm") return undefined;
  if (files.isFolder(file))
    return {
      reason: `${quote(file, 200)}, which is a folder`,
      hint: "Import a file, such as `index.js`: Node does not import folders.",
    };
  if ((await files.get(file)).kind !== "foreign" || /\.(?:json|wasm)$/.test(file)) return undefined;
  return {
    reason: `${quote(file, 200)}, which Node cannot import`,
    hint: "Import JavaScript or JSON. Read other files with `readFile` of `node:fs/promises`.",
  };
}

/**
 * The reason why a module of the package would fail to load: it transitively imports a missing file, or something that Node
 * does not load. Follows imports with literal paths, and ignores those in a `try` block or with a `.catch`.
 */
export async function findFailingImport(
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
      else if (!isInPackage(target.file)) continue;
      else if ((await files.get(target.file)).kind === "absent")
        failing = {
          reason: `${quote(target.file, 200)}, which is not in the package`,
          hint: hintForMissing(files, importer, target.file),
        };
      else if (!seen.has(target.file)) {
        failing = await explainFile(files, target.file, one);
        if (failing === undefined) seen.add(target.file);
      }
      if (failing !== undefined && !one.isGuarded)
        return { ...failing, reason: `${quote(importer, 200)} imports ${failing.reason}` };
    }
  }
  return undefined;
}
