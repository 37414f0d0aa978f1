import type { ModuleFiles } from "../modules/module-files.ts";
import { placeOf } from "../modules/parse-module.ts";

/** An import of a file that the published package does not contain, because it is outside the package. */
export interface OutsideImport {
  specifier: string;
  /** The package in whose folder of `node_modules` the file is, if any. */
  packageName?: string | undefined;
  file: string;
  line: number;
  column: number;
}

type Manifest = Readonly<Record<string, unknown>>;

/** The npm name of the dependency that contains a file; `undefined` for other files. */
export const findContainingPackage = (file: string): string | undefined =>
  /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];

/** True for a file of a bundled dependency. */
export function isBundled(file: string, manifest: Manifest): boolean {
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies;
  const name = file.startsWith("node_modules/") ? findContainingPackage(file) : undefined;
  return name !== undefined && (bundled === true || (Array.isArray(bundled) && bundled.includes(name)));
}

/** True for absolute paths and `file:` URLs. */
const isAbsolute = (specifier: string) => /^(?:[/\\]|file:\/|[a-z]:[/\\])/i.test(specifier);

/**
 * Finds imports that lead out of the package: to a folder around it, to an absolute path, or into `node_modules`. Ignores
 * imports in a `try` block or with a `.catch`. Reports each target once.
 */
export async function findOutsideImports(
  modules: ModuleFiles,
  files: readonly string[],
  manifest: Manifest,
): Promise<OutsideImport[]> {
  const found = new Map<string, OutsideImport>();
  for (const file of files) {
    for (const one of await modules.listWritten(file)) {
      const target = modules.resolve(file, one.specifier, one.kind);
      const path = "file" in target ? target.file : target.elsewhere;
      if (found.has(path)) continue;
      const packageName = "file" in target ? findContainingPackage(path) : undefined;
      const isOutside =
        "file" in target
          ? (packageName !== undefined && !isBundled(path, manifest)) ||
            (await modules.get(path)).kind === "outside"
          : isAbsolute(path);
      if (!isOutside || one.isGuarded) continue;
      const { specifier, index } = one;
      found.set(path, { specifier, packageName, file, ...placeOf(modules.textOf(file), index) });
    }
  }
  return [...found.values()];
}
