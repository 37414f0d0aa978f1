import { isBuiltin } from "node:module";
import { positionAt } from "../../data/line-index.ts";
import { isRecord } from "../../data/parse-json.ts";
import { installedKeys } from "../../discovery/project.ts";
import { type ProblemArguments, type ProblemCode, quote } from "../../problems/index.ts";
import { type Check, type Finding, findInFile, findInItem } from "../finding.ts";
import type { ModuleImport } from "../modules/module-files.ts";
import { findContainingPackage, isInBundled, isTypeScript } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** Checks that Node can load the modules of items: they parse, in the format that Node expects. */
export const checkModules: Check = async function* ({ moduleFaults }) {
  for (const [file, { line, column, ...found }] of await moduleFaults()) {
    if (found.fault === "syntax")
      yield findInFile(file, "UnparsableModule", { file, reason: found.reason }, { line, column });
    else {
      const { fault, ...args } =
        found.fault === "variable" ? { ...found, readAs: "esm" as const, isMixed: true } : found;
      yield findInFile(file, "WrongModuleFormat", { file, ...args }, { line, column });
    }
  }
};

function findAtImport<Code extends ProblemCode>(
  { files }: PackUnderTest,
  { file, index }: ModuleImport,
  code: Code,
  args: ProblemArguments[Code],
): Finding {
  return findInFile(file, code, args, positionAt(files.textOf(file), index));
}

/** True for absolute paths and `file:` URLs. */
const isAbsolute = (specifier: string) => /^(?:[/\\]|file:\/|[a-z]:[/\\])/i.test(specifier);

/**
 * Checks that published modules import no files outside the package: of a folder around it, by an absolute path, or in
 * `node_modules`. Ignores imports in a `try` block or with a `.catch`. Reports each file once.
 */
export const checkOutsideImports: Check = async function* (pack) {
  if (!pack.isUnderDevelopment || !pack.isPublished) return;
  const { manifest, problems } = pack.inspected;
  const reported = new Set(problems.map(({ file }) => file));
  const found = new Set<string>();
  for (const one of await pack.imports()) {
    const { target, specifier: what } = one;
    const path = "file" in target ? target.file : target.elsewhere;
    if (found.has(path) || one.isGuarded || reported.has(one.file)) continue;
    const owner = "file" in target ? findContainingPackage(path) : undefined;
    const isInside =
      "file" in target
        ? owner === undefined
          ? (await pack.files.get(path)).kind !== "outside"
          : isInBundled(path, manifest.value)
        : !isAbsolute(path);
    if (isInside) continue;
    found.add(path);
    const hint = owner && `Import ${quote(owner)} by its name: npm does not publish node_modules.`;
    yield findAtImport(pack, one, "DefinitionOutsidePackage", { what, hint });
  }
};

export const hasKey = (value: unknown, name: string): boolean =>
  isRecord(value) && Object.hasOwn(value, name);

/** The package name in a specifier; `undefined` for modules of Node and of Yarn Plug'n'Play, URLs and file paths. */
function findPackage(specifier: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|[./\\#]|$)/i.test(specifier) || isBuiltin(specifier) || specifier === "pnpapi")
    return undefined;
  return /^(?:@[^/]*\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** Checks that the packages that published modules import are declared as dependencies. Reports each once. */
export const checkImports: Check = async function* (pack) {
  if (!pack.isPublished) return;
  const { value: manifest } = pack.inspected.manifest;
  const isInstalled = (name: string) =>
    name === manifest.name || installedKeys.some((key) => hasKey(manifest[key], name));
  // A definition that cannot be evaluated without the package has been reported already.
  const reported = new Set(
    pack.inspected.problems.map(({ args }) => ("missingPackage" in args ? args.missingPackage : undefined)),
  );
  const byName = new Map<string, ModuleImport[]>();
  for (const one of await pack.imports()) {
    if (!("elsewhere" in one.target)) continue;
    const name = findPackage(one.target.elsewhere);
    if (name === undefined || isInstalled(name) || reported.has(name)) continue;
    byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  for (const [name, imports] of byName) {
    const first = imports.find(({ isGuarded }) => !isGuarded) ?? imports[0];
    // No package manager installs a package that only `peerDependenciesMeta` names, which makes it optional.
    if (first === undefined || (first.isGuarded && hasKey(manifest.peerDependenciesMeta, name))) continue;
    const { specifier, isGuarded } = first;
    const isDev = hasKey(manifest.devDependencies, name);
    const others = new Set(imports.map(({ file }) => file)).size - 1;
    const args = { name, specifier, isGuarded, isDev, others };
    yield findAtImport(pack, first, "UndeclaredDependency", args);
  }
};

/** Options of `node` with which it may run TypeScript in installed packages. */
const loaderOption = /^(?:-r|--require|--import|--(?:experimental-)?loader)(?:=|$)/;

/** Checks that an installed pack runs JavaScript only, because Node strips no types below node_modules. */
export const checkTypeScript: Check = async function* (pack) {
  if (!pack.isUnderDevelopment) return;
  const { items, problems, manifest } = pack.inspected;
  const code = "TypeScriptNotPublishable";
  const isPrivate = manifest.value.private === true;
  const refused = problems.map(({ code, args }) =>
    code === "UnsupportedDefinitionFormat" && args.cause === "typesNotStripped" ? args.file : null,
  );
  const definitions = new Set([...items.map(({ file }) => file), ...refused]);
  for (const file of definitions)
    if (file !== null && isTypeScript(file))
      yield findInFile(file, code, { file, isPrivate, isDefinition: true });

  const isFile = (file: string) => pack.files.kindOf(file) === "file";
  const describe = (file: string) => {
    const compiled = file.replace(/tsx?$/, "js");
    return { file, javascript: isFile(compiled) ? compiled : undefined, isPrivate };
  };
  for (const { file, item, path } of pack.needed()) {
    const args: unknown[] = Array.isArray(item.definition?.args) ? item.definition.args : [];
    const hasLoader = path?.[0] === "args" && args.some((one) => loaderOption.test(String(one)));
    if (path === undefined || path[0] === "command" || hasLoader) continue;
    if (isTypeScript(file) && isFile(file)) yield findInItem(item, code, describe(file), path);
  }
  for (const one of await pack.imports()) {
    const file = "file" in one.target ? one.target.file : "";
    if (isTypeScript(file) && isFile(file))
      yield findAtImport(pack, one, code, { ...describe(file), importer: one.file });
  }
};
