import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import type { NeededFile } from "../needed-files.ts";
import type { ModuleFiles, Resolution } from "./module-files.ts";
import type { WrittenImport } from "./parse-module.ts";

/** Limits on followed imports, to keep validation fast. */
const maximumImported = 2000;
const maximumBytes = 32 << 20;

const isInPackage = (file: string) => !/^\.\.(?:\/|$)|(?:^|\/)node_modules\//.test(file);
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
    for (const { specifier, kind } of await modules.listWritten(one.file)) {
      const target = modules.resolve(one.file, specifier, kind);
      if (!("file" in target) || found.has(target.file) || found.size >= maximum) continue;
      if (isInPackage(target.file)) found.set(target.file, { ...one, file: target.file, importer: one.file });
    }
  }
  return [...found.values()];
}

export const isTypeScript = (file: string) => /\.[cm]?tsx?$/.test(file);

/**
 * Finds a file with a similar name in the folder of a missing one, or the TypeScript that it is compiled from; `undefined`
 * if the folder does not exist.
 */
export function findNearestFile(
  files: ModuleFiles,
  file: string,
): { nearest?: string | undefined; source?: string } | undefined {
  const neighbors = files.listNeighbors(file);
  if (neighbors === undefined) return undefined;
  const name = posix.basename(file);
  const inFolder = (found: string) => posix.join(posix.dirname(file), found);
  const base = name.replace(/\.[cm]?js$/, "");
  const source = neighbors.find((one) => isTypeScript(one) && one.replace(/\.[cm]?tsx?$/, "") === base);
  if (source !== undefined) return { source: inFolder(source) };
  const usable = neighbors.filter((one) => !isTypeScript(one));
  const guess = usable.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, usable)[0];
  return { nearest: guess === undefined ? undefined : inFolder(guess) };
}

/** A hint for a missing file that is compiled from TypeScript. */
export const hintForSource = (source: string): string =>
  `Build it first: the package has only its source ${quote(source, 200)}.`;

/** An import that Node cannot load. */
export interface FailingImport {
  reason: string;
  hint: string;
}

/** Modules of Node that only later versions than the oldest supported one have. */
const newerBuiltins = ["node:ffi", "node:quic", "node:sea", "node:sqlite", "node:vfs"];

/** The hint for a missing file that a module imports. */
function hintForMissing(files: ModuleFiles, importer: string, file: string): string {
  const { nearest, source } = findNearestFile(files, file) ?? {};
  if (source !== undefined) return hintForSource(source);
  if (nearest === undefined) return "If a build creates it, run the build first.";
  const path = posix.relative(posix.dirname(importer), nearest);
  return `Did you mean ${quote(path.startsWith(".") ? path : `./${path}`, 200)}?`;
}

/** Why Node cannot load an import, with a hint; `undefined` if it can, or if that is unknown. */
async function explainImport(
  files: ModuleFiles,
  importer: string,
  { specifier, kind }: WrittenImport,
  target: Resolution,
): Promise<[what: string, hint: string] | undefined> {
  if ("elsewhere" in target) {
    if (kind === "esm" && /^https?:/i.test(specifier))
      return ["which Node does not load", "Add a dependency instead."];
    return specifier.startsWith("node:") && !isBuiltin(specifier) && !newerBuiltins.includes(specifier)
      ? [
          `but Node ${process.version} has no such built-in module`,
          "Correct the name of the built-in module.",
        ]
      : undefined;
  }
  const { file } = target;
  const found = (await files.get(file)).kind;
  if (found === "absent") return ["which is not in the package", hintForMissing(files, importer, file)];
  if (kind !== "esm") return undefined;
  if (files.kindOf(file) === "folder")
    return ["which is a folder", "Import a file, such as `index.js`: Node does not import folders."];
  return found === "foreign" && !/\.(?:json|wasm)$/.test(file)
    ? [
        "which Node cannot import",
        "Import JavaScript or JSON. Read other files with `readFile` of `node:fs/promises`.",
      ]
    : undefined;
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
      if ("file" in target && (!isInPackage(target.file) || seen.has(target.file))) continue;
      const [what, hint] = (await explainImport(files, importer, one, target)) ?? [];
      if (what !== undefined && hint !== undefined && !one.isGuarded) {
        const imported = "file" in target ? target.file : one.specifier;
        return { reason: `${quote(importer, 200)} imports ${quote(imported, 200)}, ${what}`, hint };
      }
      if (what === undefined && "file" in target) seen.add(target.file);
    }
  }
  return undefined;
}
