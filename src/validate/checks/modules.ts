import { isBuiltin } from "node:module";
import { positionAt } from "../../data/line-index.ts";
import { isRecord } from "../../data/parse-json.ts";
import { installedKeys } from "../../discovery/project.ts";
import { findHandlers, type HandlerPlace, parseHandler } from "../../extension-schema/references.ts";
import { isData } from "../../inspection/locate-definitions.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Check, type Finding, findInFile, findInItem } from "../finding.ts";
import type { ExportSearch, ModuleImport } from "../modules/module-files.ts";
import { isInBundled, isInPackage, isTypeScript } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** A pack, or the tools of a project. */
type WithHandlers = Pick<PackUnderTest, "files" | "moduleFaults" | "findFailingImport"> & {
  inspected: Pick<InspectedPack, "items">;
};

/** Limit on the exports that a problem lists instead of a missing one. */
const maximumListed = 10;

/** Whether execution finds the export of a module. */
async function search(
  { files, findFailingImport }: WithHandlers,
  { pack }: InspectedItem,
  { module, exportName }: HandlerPlace,
): Promise<ExportSearch> {
  const { kind } = await files.get(module);
  if (kind === "absent")
    return { absent: `the package has no file ${quote(module)}`, hint: files.hintForMissing(module) };
  if (kind === "foreign") return { absent: `Node cannot import ${quote(module)} as a module` };
  if (kind === "typescript") {
    const isInstalled = pack !== undefined && !["self", "workspace"].includes(pack.origin);
    return isInstalled ? { absent: "Node does not run TypeScript in installed packages" } : "found";
  }
  const failing = await findFailingImport(module);
  if (failing === undefined) return files.findExport(module, exportName);
  return { absent: failing.reason, hint: failing.hint };
}

async function* checkModule(
  pack: WithHandlers,
  item: InspectedItem,
  { handler, path, ...place }: HandlerPlace & { handler: string; path: Path },
): AsyncGenerator<Finding> {
  const { module, exportName } = place;
  if ((await pack.files.get(module)).kind === "outside") {
    yield findInItem(item, "DefinitionOutsidePackage", { what: handler }, path);
    return;
  }
  const found = await search(pack, item, place);
  if (found === "found" || (await pack.moduleFaults()).has(module)) return;
  if ("unclear" in found)
    yield findInItem(item, "HandlerUnchecked", { handler, reason: found.unclear }, path);
  else {
    const { absent: reason, hint, exports: all = [] } = found;
    const nearest = findNearestNames(exportName, all);
    const exports = nearest.length > 0 ? nearest : all.slice(0, maximumListed);
    yield findInItem(item, "HandlerNotFound", { handler, reason, exports, hint }, path);
  }
}

export async function* checkHandlers(pack: WithHandlers): AsyncGenerator<Finding> {
  for (const item of pack.inspected.items) {
    for (const { handler, path } of findHandlers(item)) {
      const refuse = (written: string, reason: string) =>
        findInItem(item, "HandlerNotFound", { handler: written, reason }, path);
      if (typeof handler === "string") {
        const place = parseHandler(handler);
        if ("fault" in place) yield refuse(handler, place.fault);
        else yield* checkModule(pack, item, { ...place, handler, path });
      } else if (isRecord(handler) && item.format !== undefined && isData(item.format))
        yield refuse(String(handler.$function), "only code definitions can contain functions");
    }
  }
}

const placeOf = ({ files }: PackUnderTest, { file, index }: ModuleImport) =>
  positionAt(files.textOf(file), index);

export const checkModules: Check = async function* ({ moduleFaults }) {
  for (const [file, { line, column, ...found }] of await moduleFaults())
    yield found.fault === "syntax"
      ? findInFile(file, "UnparsableModule", { file, reason: found.reason }, { line, column })
      : findInFile(file, "WrongModuleFormat", { file, readAs: found.readAs }, { line, column });
};

/**
 * Checks that published modules import no files that are not published: of a folder around the package, by an absolute path, or in
 * `node_modules`. Ignores imports in a `try` block or with a `.catch`.
 */
export const checkOutsideImports: Check = async function* (pack) {
  if (!pack.isUnderDevelopment || !pack.isPublished) return;
  const { manifest, problems } = pack.inspected;
  const reported = new Set(problems.map(({ file }) => file));
  for (const one of await pack.imports()) {
    const { target, file, specifier } = one;
    const isInside =
      "elsewhere" in target
        ? !/^(?:[/\\]|file:|[a-z]:[/\\])/i.test(target.elsewhere)
        : isInPackage(target.file)
          ? pack.files.kindOf(target.file) !== "outside"
          : isInBundled(target.file, manifest.value);
    if (isInside || one.isGuarded || reported.has(file)) continue;
    yield findInFile(file, "DefinitionOutsidePackage", { what: specifier }, placeOf(pack, one));
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
    yield findInFile(first.file, "UndeclaredDependency", args, placeOf(pack, first));
  }
};

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
    if (file !== null && isTypeScript(file)) yield findInFile(file, code, { file, isPrivate });

  const isSource = (file: string) => isTypeScript(file) && pack.files.kindOf(file) === "file";
  for (const { file, item, path } of pack.needed()) {
    // With a loader before it, `node` may run TypeScript.
    if (path === undefined || path[0] === "command" || (path[0] === "args" && path[1] !== 0)) continue;
    if (isSource(file)) yield findInItem(item, code, { file, isPrivate }, path);
  }
  for (const one of await pack.imports())
    if ("file" in one.target && isSource(one.target.file))
      yield findInFile(one.file, code, { file: one.target.file, isPrivate }, placeOf(pack, one));
};
