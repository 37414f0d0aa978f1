import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { isInPackage, isTypeScript } from "../needed-files.ts";
import type { ModuleFiles, ModuleImport } from "./module-files.ts";

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
function explainImport(files: ModuleFiles, { file, specifier, kind, target }: ModuleImport) {
  if ("file" in target) {
    const found = isInPackage(target.file) ? files.kindOf(target.file) : undefined;
    if (found === "absent") return ["which is not in the package", hintForMissing(files, file, target.file)];
    return found === "folder" && kind === "esm"
      ? ["which is a folder", "Import a file, such as `index.js`: Node does not import folders."]
      : undefined;
  }
  if (kind === "esm" && /^https?:/i.test(specifier))
    return ["which Node does not load", "Add a dependency instead."];
  return specifier.startsWith("node:") && !isBuiltin(specifier) && !newerBuiltins.includes(specifier)
    ? [`but Node ${process.version} has no such built-in module`, "Correct the name of the built-in module."]
    : undefined;
}

/**
 * The reason why a module of the package would fail to load: it transitively imports a missing file, or something that Node
 * does not load. Ignores imports in a `try` block or with a `.catch`, and those of other packages.
 */
export async function findFailingImport(
  files: ModuleFiles,
  module: string,
): Promise<FailingImport | undefined> {
  for await (const one of files.follow([module])) {
    const { file, specifier, target, isGuarded } = one;
    const imported = "file" in target ? target.file : specifier;
    const [what, hint] = isGuarded ? [] : (explainImport(files, one) ?? []);
    if (what !== undefined && hint !== undefined)
      return { reason: `${quote(file, 200)} imports ${quote(imported, 200)}, ${what}`, hint };
  }
  return undefined;
}
