import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { isInPackage, isTypeScript } from "../needed-files.ts";
import type { ModuleFiles, ModuleImport } from "./module-files.ts";

/**
 * How to correct the path of a missing file: build it from TypeScript, or name a similar file of its folder, with its path
 * from the folder `from`.
 */
export function hintForMissing(files: ModuleFiles, file: string, from = "."): string | undefined {
  const neighbors = files.listNeighbors(file) ?? [];
  const inFolder = (found: string) => posix.join(posix.dirname(file), found);
  const name = posix.basename(file);
  const base = name.replace(/\.[cm]?js$/, "");
  const source = neighbors.find((one) => isTypeScript(one) && one.replace(/\.[cm]?tsx?$/, "") === base);
  if (source !== undefined)
    return `Build it first: the package has only its source ${quote(inFolder(source), 200)}.`;
  const usable = neighbors.filter((one) => !isTypeScript(one));
  const nearest = usable.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, usable)[0];
  if (nearest === undefined) return undefined;
  const path = posix.relative(from, inFolder(nearest));
  return `Did you mean ${quote(path.startsWith(".") ? path : `./${path}`, 200)}?`;
}

/** An import that Node cannot load. */
export interface FailingImport {
  reason: string;
  hint: string;
}

/** Modules of Node that only later versions than the oldest supported one have. */
const newerBuiltins = ["node:ffi", "node:quic", "node:sea", "node:sqlite", "node:vfs"];

/** Why Node cannot load an import, with a hint; `undefined` if it can, or if that is unknown. */
function explainImport(files: ModuleFiles, { file, specifier, kind, target }: ModuleImport) {
  if ("file" in target) {
    const found = isInPackage(target.file) ? files.kindOf(target.file) : undefined;
    if (found === "absent") {
      const hint = hintForMissing(files, target.file, posix.dirname(file));
      return ["which is not in the package", hint ?? "If a build creates it, run the build first."];
    }
    if (kind !== "esm") return undefined;
    if (found === "folder")
      return ["which is a folder", "Import a file, such as `index.js`: Node does not import folders."];
    return found === "file" && !/\.(?:[cm]?[jt]s|json|node|wasm)$|(?:^|\/)[^.]+$/.test(target.file)
      ? [
          "which Node cannot import",
          "Import JavaScript. Read other files with `readFile` of `node:fs/promises`.",
        ]
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
