import { isBuiltin } from "node:module";
import { isRecord } from "../../data/parse-json.ts";
import type { Problem } from "../../problems/index.ts";
import type { ModuleFiles } from "../modules/module-files.ts";
import { placeOf, type WrittenImport } from "../modules/parse-module.ts";

/** A package, or a name in `imports` or `exports`, that package.json does not declare, with the first import. */
export interface UndeclaredImport {
  name: string;
  specifier: string;
  file: string;
  line: number;
  column: number;
  /** Every import is in a `try` block or has a `.catch`. */
  isGuarded: boolean;
  /** The package is one of the `devDependencies`, which are not installed with the pack. */
  isDev: boolean;
  /** The key of package.json that would have to define the specifier, if it names no other package. */
  missingIn?: "imports" | "exports" | undefined;
  /** The number of other modules that import it. */
  others: number;
}

interface FoundImport extends WrittenImport {
  file: string;
  missingIn: UndeclaredImport["missingIn"];
}

type Manifest = Readonly<Record<string, unknown>>;

const installedKeys = ["dependencies", "peerDependencies", "optionalDependencies"];

/** Whether a name is that of the package itself, or of a dependency. npm bundles only dependencies, too. */
const isInstalled = (manifest: Manifest, name: string): boolean =>
  name === manifest.name || installedKeys.some((key) => hasKey(manifest[key], name));

const hasKey = (value: unknown, name: string): boolean => isRecord(value) && Object.hasOwn(value, name);

/** The package name in a specifier; `undefined` for modules of Node and of Yarn Plug'n'Play, URLs and file paths. */
export function findPackage(specifier: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|[./\\#]|$)/i.test(specifier) || isBuiltin(specifier) || specifier === "pnpapi")
    return undefined;
  return /^(?:@[^/]*\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** Finds the packages that modules import but that would not be installed with the pack. */
export async function findUndeclared(
  modules: ModuleFiles,
  files: readonly string[],
  manifest: Manifest,
  known: readonly Problem[],
): Promise<UndeclaredImport[]> {
  // A definition that cannot be evaluated without the package has been reported already.
  const reported = new Set(
    known.map(({ args }) => ("missingPackage" in args ? args.missingPackage : undefined)),
  );
  const byName = new Map<string, FoundImport[]>();
  for (const file of files) {
    for (const one of await modules.listWritten(file)) {
      const target = modules.resolve(file, one.specifier, one.kind);
      if (!("elsewhere" in target)) continue;
      const missingIn = modules.hasOwnManifest(file) ? undefined : target.missingIn;
      const name = missingIn === undefined ? findPackage(target.elsewhere) : target.elsewhere;
      if (
        name === undefined ||
        (missingIn === undefined && isInstalled(manifest, name)) ||
        reported.has(name)
      )
        continue;
      const found = { ...one, file, missingIn };
      const same = byName.get(name);
      if (same === undefined) byName.set(name, [found]);
      else same.push(found);
    }
  }
  return [...byName].flatMap(([name, imports]) => {
    const first = imports.find((one) => !one.isGuarded) ?? imports[0];
    if (first === undefined) return [];
    const { specifier, file, index, missingIn, isGuarded } = first;
    // No package manager installs a package that only `peerDependenciesMeta` names, which makes it optional.
    if (isGuarded && hasKey(manifest.peerDependenciesMeta, name)) return [];
    return {
      name,
      specifier,
      file,
      ...placeOf(modules.textOf(file), index),
      isGuarded,
      ...(missingIn === undefined ? {} : { missingIn }),
      isDev: hasKey(manifest.devDependencies, name),
      others: new Set(imports.map((one) => one.file)).size - 1,
    };
  });
}
