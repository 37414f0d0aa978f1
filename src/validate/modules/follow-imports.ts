import type { NeededFile } from "../needed-files.ts";
import type { ModuleFiles } from "./module-files.ts";

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
