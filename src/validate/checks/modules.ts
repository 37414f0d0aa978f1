import { isBuiltin } from "node:module";
import { positionAt } from "../../data/line-index.ts";
import { isRecord } from "../../data/parse-json.ts";
import { installedKeys } from "../../discovery/project.ts";
import { findHandlers, parseHandler } from "../../extension-schema/references.ts";
import { isData } from "../../inspection/locate-definitions.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import { type Check, type Finding, findInFile, findInItem } from "../finding.ts";
import type { ModuleImport } from "../modules/module-files.ts";
import { isInPackage, isTypeScript } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** A pack, or the tools of a project, whose modules are not followed. */
type WithHandlers = Pick<PackUnderTest, "files"> &
  Partial<Pick<PackUnderTest, "moduleFaults" | "findFailingImport">> & {
    inspected: Pick<InspectedPack, "items">;
  };

/** Limit on the exports that a problem lists instead of a missing one. */
const maximumListed = 10;

/** Whether execution finds a handler, by what its module itself says. What that re-exports is not followed. */
async function checkHandler(
  { files, moduleFaults, findFailingImport }: WithHandlers,
  item: InspectedItem,
  handler: string,
  path: Path,
): Promise<Finding | undefined> {
  const place = parseHandler(handler);
  if ("fault" in place) return findInItem(item, "HandlerNotFound", { handler, reason: place.fault }, path);
  const { module: file, exportName } = place;
  const refuse = (reason: string, hint?: string, exports: readonly string[] = []) =>
    findInItem(item, "HandlerNotFound", { handler, reason, exports, hint }, path);
  const quoted = quote(file);
  const doubt = (why: string) =>
    findInItem(item, "HandlerUnchecked", { handler, reason: `${quoted} ${why}` }, path);
  const module = await files.get(file);
  if (module.kind === "outside") return findInItem(item, "DefinitionOutsidePackage", { what: handler }, path);
  if (module.kind === "absent")
    return refuse(`the package has no file ${quoted}`, files.hintForMissing(file));
  if (module.kind === "typescript") {
    const isInstalled = item.pack !== undefined && !["self", "workspace"].includes(item.pack.origin);
    return isInstalled ? refuse("Node does not run TypeScript in installed packages") : undefined;
  }
  if ((await moduleFaults?.())?.has(file)) return undefined;
  const failing = await findFailingImport?.(file);
  if (failing !== undefined) return refuse(failing.reason, failing.hint);
  if (module.kind === "broken") return refuse(`${quoted} ${module.why}`);
  if (module.kind === "opaque") return doubt(module.why);
  const { kind, names, stars, isOpen, text } = module;
  const [star] = stars;
  if (names.has(exportName)) return undefined;
  // `export *` leaves out the default export.
  if (star !== undefined && (exportName !== "default" || kind === "commonjs"))
    return doubt(`re-exports everything from ${quote(star)}`);
  if (kind === "commonjs" && (isOpen || text.includes(exportName)))
    return doubt("may create its exports at run time");
  const what = exportName === "default" ? "default export" : `export ${quote(exportName)}`;
  const nearest = findNearestNames(exportName, [...names]);
  const listed = nearest.length > 0 ? nearest : [...names].slice(0, maximumListed);
  return refuse(`${quoted} has no ${what}`, undefined, listed);
}

export async function* checkHandlers(pack: WithHandlers): AsyncGenerator<Finding> {
  for (const item of pack.inspected.items) {
    for (const { handler, path } of findHandlers(item)) {
      if (typeof handler === "string") {
        const found = await checkHandler(pack, item, handler, path);
        if (found !== undefined) yield found;
      } else if (isRecord(handler) && item.format !== undefined && isData(item.format)) {
        const reason = "only code definitions can contain functions";
        yield findInItem(item, "HandlerNotFound", { handler: String(handler.$function), reason }, path);
      }
    }
  }
}

const placeOf = ({ text, index }: ModuleImport) => positionAt(text, index);

export const checkModules: Check = async function* ({ moduleFaults }) {
  for (const [file, { line, column, ...found }] of await moduleFaults())
    yield "reason" in found
      ? findInFile(file, "UnparsableModule", { file, reason: found.reason }, { line, column })
      : findInFile(file, "WrongModuleFormat", { file, readAs: found.readAs }, { line, column });
};

/**
 * Checks that needed modules import no files that are not published: of a folder around the package, by an absolute path, or in
 * `node_modules`. Ignores imports in a `try` block or with a `.catch`.
 */
export const checkOutsideImports: Check = async function* (pack) {
  if (!pack.isUnderDevelopment || !pack.isPublished) return;
  const reported = new Set(pack.inspected.problems.map(({ file }) => file));
  for (const one of (await pack.followed()).imports) {
    const { target, file, specifier } = one;
    const isInside =
      "elsewhere" in target
        ? !/^(?:[/\\]|file:|[a-z]:[/\\])/i.test(target.elsewhere)
        : isInPackage(target.file)
          ? pack.files.kindOf(target.file) !== "outside"
          : pack.isInBundled(target.file);
    if (isInside || one.isGuarded || reported.has(file)) continue;
    yield findInFile(file, "DefinitionOutsidePackage", { what: specifier }, placeOf(one));
  }
};

export const hasKey = (value: unknown, name: string): boolean =>
  isRecord(value) && Object.hasOwn(value, name);

/** The package name in a specifier; `undefined` for modules of Node and of Yarn Plug'n'Play, URLs and file paths. */
function findPackage(specifier: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|[./\\#]|pnpapi$|$)/i.test(specifier) || isBuiltin(specifier)) return undefined;
  return /^(?:@[^/]*\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** Checks that the packages that needed modules import are declared as dependencies. Reports each once. */
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
  for (const one of (await pack.followed()).imports) {
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
    yield findInFile(first.file, "UndeclaredDependency", args, placeOf(first));
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
  for (const one of (await pack.followed()).imports)
    if ("file" in one.target && isSource(one.target.file))
      yield findInFile(one.file, code, { file: one.target.file, isPrivate }, placeOf(one));
};
