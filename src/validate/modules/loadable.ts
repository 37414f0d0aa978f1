import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { isInPackage, isTypeScript } from "../needed-files.ts";
import type { ModuleFiles } from "./module-files.ts";

/** Whether a module has an export, or why it does not or cannot be determined. */
export type ExportSearch =
  | "found"
  /** `exports` is what is there instead; `hint` replaces it. */
  | { absent: string; exports?: readonly string[]; hint?: string }
  | { unclear: string };

/**
 * Finds an export of a module by what the module itself says. What it re-exports from others is not followed. Does not run
 * the module.
 */
export async function findExport(files: ModuleFiles, file: string, name: string): Promise<ExportSearch> {
  const module = await files.get(file);
  const quoted = quote(file);
  if (module.kind === "broken") return { absent: `${quoted} ${module.why}` };
  if (!("names" in module))
    return { unclear: `${quoted} ${module.kind === "opaque" ? module.why : "is no module"}` };
  if (module.names.has(name)) return "found";
  const [star] = module.stars;
  // `export *` leaves out the default export.
  if (star !== undefined && (name !== "default" || module.kind === "commonjs"))
    return { unclear: `${quoted} re-exports everything from ${quote(star)}` };
  if (module.kind === "commonjs" && (module.isOpen || files.textOf(file).includes(name)))
    return { unclear: `${quoted} may create its exports at run time` };
  const what = name === "default" ? "default export" : `export ${quote(name)}`;
  return { absent: `${quoted} has no ${what}`, exports: [...module.names] };
}

/** How to correct the path of a missing file: build it, or name a similar file of its folder, with its path from the folder `from`. */
export function hintForMissing(files: ModuleFiles, file: string, from = "."): string {
  const neighbors = files.listNeighbors(file) ?? [];
  const inFolder = (found: string) => posix.join(posix.dirname(file), found);
  const name = posix.basename(file);
  const base = name.replace(/\.[cm]?js$/, "");
  const source = neighbors.find((one) => isTypeScript(one) && one.replace(/\.[cm]?tsx?$/, "") === base);
  if (source !== undefined)
    return `Build it first: the package has only its source ${quote(inFolder(source), 200)}.`;
  const usable = neighbors.filter((one) => !isTypeScript(one));
  const nearest = usable.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, usable)[0];
  if (nearest === undefined)
    return "Add the file to the package. If a build creates it, run the build first.";
  const path = posix.relative(from, inFolder(nearest));
  return `Did you mean ${quote(path.startsWith(".") ? path : `./${path}`, 200)}?`;
}

/**
 * The reason why a module of the package would fail to load: it transitively imports a file that is missing. Ignores imports
 * in a `try` block or with a `.catch`, and those of other packages.
 */
export async function findFailingImport(files: ModuleFiles, module: string) {
  for await (const { file, target, isGuarded } of files.follow([module])) {
    if (isGuarded || !("file" in target) || !isInPackage(target.file)) continue;
    if (files.kindOf(target.file) !== "absent") continue;
    const reason = `${quote(file, 200)} imports ${quote(target.file, 200)}, which is not in the package`;
    return { reason, hint: hintForMissing(files, target.file, posix.dirname(file)) };
  }
  return undefined;
}
