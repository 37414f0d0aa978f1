import { quote } from "../../problems/index.ts";
import type { NeededFile } from "../facts/needed-files.ts";
import type { ModuleFiles } from "./module-files.ts";

/** Limits on followed imports, to keep validation fast. */
export const maximumImported = 2000;
export const maximumBytes = 32 << 20;

export const isInPackage = (file: string) => !/^\.\.(?:\/|$)|(?:^|\/)node_modules\//.test(file);
/** Excludes TypeScript, which does not run after publishing. */
export const isJavaScript = (file: string) => /\.[cm]?js$/.test(file) && isInPackage(file);

/**
 * The needed files without duplicates, followed by every file of the package that they import transitively by relative
 * paths, each with the place of the first file that needs it. Imported files may not exist.
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
    for (const file of await modules.listImports(one.file)) {
      if (!found.has(file) && found.size < maximum && isInPackage(file))
        found.set(file, { ...one, file, importer: one.file });
    }
  }
  return [...found.values()];
}

/**
 * The reason why a module of the package would fail: it transitively imports a missing file. Follows imports with literal
 * paths, and ignores missing files in a `try` block or with a `.catch`; `undefined` if all other files exist.
 */
export async function findMissingImport(files: ModuleFiles, module: string): Promise<string | undefined> {
  const seen = new Set([module]);
  for (const importer of seen) {
    if (seen.size > maximumImported || files.bytesRead > maximumBytes) return undefined;
    for (const one of await files.listWritten(importer)) {
      const target = files.resolve(importer, one.specifier, one.kind);
      if (!("file" in target) || seen.has(target.file) || !isInPackage(target.file)) continue;
      const isMissing = (await files.get(target.file)).kind === "absent";
      if (!isMissing) seen.add(target.file);
      else if (!files.isGuarded(importer, one))
        return `${quote(importer, 200)} imports ${quote(target.file, 200)}, which is not in the package`;
    }
  }
  return undefined;
}
