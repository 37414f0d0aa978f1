import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { isInPackage, isTypeScript } from "../needed-files.ts";
import type { ModuleFile, ModuleFiles, ModuleImport } from "./module-files.ts";

/** Whether a module has an export, or why it does not or cannot be determined. */
export type ExportSearch =
  | "found"
  /** `exports` is what is there instead; `hint` replaces it. `broken` is a module that Node cannot load. */
  | { absent: string; exports?: readonly string[]; hint?: string; broken?: string }
  | { unclear: string };

/** What is known of the exports of a file that is no module with known ones. */
function explainUnknown(file: string, module: Exclude<ModuleFile, { names: unknown }>): ExportSearch {
  const name = quote(file);
  if (module.kind === "absent") return { absent: `the package has no file ${name}` };
  if (module.kind === "outside") return { unclear: `${name} is outside the package` };
  if (module.kind === "opaque") return { unclear: `${name} ${module.why}` };
  if (module.kind !== "broken") return { unclear: `${name} defines it` };
  const { line, column } = module.fault ?? {};
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const hint = module.hint ?? "Run `node --check` with this file to see the full error.";
  return { absent: `${quote(place, 200)} ${module.why}`, hint, broken: file };
}

/**
 * Finds an export of a module, also in the modules of the package whose exports it re-exports as a whole. What another
 * module exports under a name that is re-exported is not checked. Does not run the modules.
 */
export async function findExport(
  files: ModuleFiles,
  file: string,
  name: string,
  seen = new Set<string>(),
): Promise<ExportSearch> {
  seen.add(file);
  const module = await files.get(file);
  if (!("names" in module)) return explainUnknown(file, module);
  if (module.names.has(name)) return "found";
  let search: ExportSearch = {
    absent: `${quote(file)} has no ${name === "default" ? "default export" : `export ${quote(name)}`}`,
    exports: [...module.names],
  };
  if (module.kind === "commonjs" && (module.isOpen || files.textOf(file).includes(name)))
    search = { unclear: `${quote(file)} may create its exports at run time` };
  // `export *` leaves out the default export.
  for (const specifier of name === "default" && module.kind === "esm" ? [] : module.stars) {
    const target = files.resolve(file, specifier, module.kind);
    if ("file" in target && seen.has(target.file)) continue;
    const inner: ExportSearch =
      "file" in target
        ? await findExport(files, target.file, name, seen)
        : { unclear: `${quote(file)} re-exports it from ${quote(specifier)}` };
    if (inner === "found") return inner;
    if ("unclear" in inner || inner.broken !== undefined) search = inner;
  }
  return search;
}

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
function explainImport(
  files: ModuleFiles,
  { file, specifier, kind, target }: ModuleImport,
): [what: string, hint: string] | undefined {
  if ("file" in target) {
    const found = isInPackage(target.file) ? files.kindOf(target.file) : undefined;
    if (found === "absent") {
      const hint = hintForMissing(files, target.file, posix.dirname(file));
      return ["which is not in the package", hint ?? "If a build creates it, run the build first."];
    }
    if (kind !== "esm") return undefined;
    if (found === "folder")
      return ["which is a folder", "Import a file, such as `index.js`: Node does not import folders."];
    const isLoadable = /\.(?:[cm]?[jt]s|json|node|wasm)$|(?:^|\/)[^.]+$/.test(target.file);
    return found !== "file" || isLoadable
      ? undefined
      : ["which Node cannot import", "Read it with `readFile` of `node:fs/promises` instead."];
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
    const failure = isGuarded ? undefined : explainImport(files, one);
    if (failure === undefined) continue;
    const imported = "file" in target ? target.file : specifier;
    return { reason: `${quote(file, 200)} imports ${quote(imported, 200)}, ${failure[0]}`, hint: failure[1] };
  }
  return undefined;
}
