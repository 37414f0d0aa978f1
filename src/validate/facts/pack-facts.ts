import { findRepeatedTopKeys, hasDuplicateKeys } from "../../data/duplicate-keys.ts";
import type { FoundPacks } from "../../discovery/find-packs.ts";
import { lookUpReferences } from "../../discovery/look-up-pack.ts";
import { resolveFrom } from "../../discovery/package-folders.ts";
import { declaredDependencies } from "../../discovery/project.ts";
import { managerIn } from "../../discovery/project-manager.ts";
import type { DiscoveredPack, Manifest } from "../../discovery/types.ts";
import type { Workspace } from "../../discovery/workspace.ts";
import { findReferences } from "../../extension-schema/references.ts";
import type { InspectionPort } from "../../files/inspection-port.ts";
import type { InspectedPack } from "../../inspection/types.ts";
import { keyOfKind, kinds } from "../../kinds.ts";
import type { PackageManager, Path, Problem } from "../../problems/index.ts";
import { isQualifiedName, parseQualifiedName } from "../../qualified-names/index.ts";
import { collectModules, type ModuleFacts } from "../modules/collect-modules.ts";
import { type FailingImport, findFailingImport } from "../modules/failing-imports.ts";
import { followImports, isJavaScript } from "../modules/follow-imports.ts";
import { ModuleFiles } from "../modules/module-files.ts";
import { findNearestFile } from "../modules/nearest-file.ts";
import type { ModuleFault } from "../modules/parse-module.ts";
import { collectExpressions, type ExpressionFault } from "./collect-expressions.ts";
import { findDependencyCommands } from "./dependency-commands.ts";
import { findExportFiles } from "./export-files.ts";
import { collectPaths, findNeededFiles, type NeededFile, type NeededPaths } from "./needed-files.ts";
import { findOutsideImports, isBundled, type OutsideImport } from "./outside-imports.ts";
import { collectResourceFiles, findResourceFiles, type ResourceFile } from "./resource-files.ts";
import { collectServerPackages, lacksPackage, type ServerPackages } from "./server-packages.ts";
import { findTypeScript, type TypeScriptUse } from "./typescript.ts";
import { findUndeclared, type UndeclaredImport } from "./undeclared-imports.ts";

/** All facts about a pack that checks need. They are collected first, so that each check is a pure function. */
export interface PackFacts {
  inspected: InspectedPack;
  /** The installed packs; empty if all references are to the pack's own items. */
  installed: readonly DiscoveredPack[];
  /**
   * npm names of installed packages that definitions refer to but that are not packs, with the problem of their
   * package.json if it cannot be read.
   */
  otherPackages: ReadonlyMap<string, Problem | undefined>;
  /** Items by advertised names that references use by mistake; absent if not collected. */
  advertised?: ReadonlyMap<string, string>;
  /** npm names of all dependencies that package.json declares. */
  dependencies: ReadonlySet<string>;
  /** Names of the host's built-ins. */
  builtIns: readonly string[];
  /** The project's package manager; absent if nothing refers to another pack. */
  manager?: PackageManager;
  /** Existing files that items need but npm would not publish; empty for installed and private packs. */
  unpublished: readonly NeededFile[];
  /** Files that `trailblaze export` wrote and npm would not publish; absent for installed packs. */
  unpublishedExports?: readonly string[];
  /** Packages that published modules import and package.json does not declare; absent if not collected. */
  undeclared?: readonly UndeclaredImport[];
  /** Imports of files outside the package; empty for installed and private packs, absent if not collected. */
  outsideImports?: readonly OutsideImport[];
  /** Why the programs of servers would fail to load a file of the package, by path; absent if not collected. */
  failingImports?: ReadonlyMap<string, FailingImport>;
  /** The source code of the modules that were read, by path; absent if not collected. */
  moduleTexts?: ReadonlyMap<string, string>;
  /** Modules that Node cannot load; absent if not collected. */
  moduleFaults?: ReadonlyMap<string, ModuleFault>;
  /** TypeScript that an installed pack would have to run; absent if not collected. */
  typeScript?: readonly TypeScriptUse[];
  /** The modules of handlers by path relative to the package, without a leading `./`. */
  modules: ReadonlyMap<string, ModuleFacts>;
  /** Expressions in bundles that do not compile. */
  expressionFaults: readonly ExpressionFault[];
  /** The files and folders that subprocess servers need. */
  paths: NeededPaths;
  /** The files with the contents of resources. */
  resourceFiles: readonly ResourceFile[];
  /** The programs of subprocess servers that run a package. */
  serverPackages: ServerPackages;
  /** Paths of duplicate keys in package.json and the field; absent if not collected. */
  repeatedKeys?: readonly Path[];
  /** Similar files, or TypeScript sources, for paths that do not exist; absent if not collected. */
  nearestPaths?: ReadonlyMap<string, { nearest?: string | undefined; source?: string }>;
  /** npm names of installed dependencies by their commands that servers use. */
  dependencyCommands: ReadonlyMap<string, string>;
}

/** The sources of facts, each used on demand. */
export interface FactSources {
  port: InspectionPort;
  /** The packs around the pack. */
  findContext: () => Promise<FoundPacks>;
  findWorkspace: () => Promise<Workspace | undefined>;
}

/** The references in definitions to items outside the pack. */
function findReferencesElsewhere({ items, extension }: InspectedPack): string[] {
  const own = new Set(
    kinds.flatMap((kind) => extension[keyOfKind[kind]].map(({ name }) => `${kind} ${name}`)),
  );
  return items.flatMap((item) =>
    findReferences(item).flatMap(({ reference, kind }) => (own.has(`${kind} ${reference}`) ? [] : reference)),
  );
}

/** The item names of the pack's own tools by advertised names that references use instead. */
function findMistakenNames({ items }: InspectedPack, elsewhere: readonly string[]): Map<string, string> {
  const wanted = new Set(elsewhere);
  const found = new Map<string, string>();
  for (const { shape, definition, declaration } of items) {
    const name = shape === "tool" ? definition?.name : undefined;
    if (typeof name === "string" && wanted.delete(name)) found.set(name, declaration.name);
  }
  return found;
}

/** The installed packages that references name and that are not packs, with the problem of their package.json. */
function findOtherPackages(
  port: InspectionPort,
  references: readonly string[],
  { packs, broken }: FoundPacks,
  location: string,
): Map<string, Problem | undefined> {
  const known = new Set(packs.map(({ pack }) => pack.name));
  const names = new Set(references.filter(isQualifiedName).map((one) => parseQualifiedName(one).packageName));
  const others = new Map<string, Problem | undefined>();
  for (const name of names) {
    const found = known.has(name) ? undefined : resolveFrom(port, location, name);
    if (found !== undefined) others.set(name, broken.get(found));
  }
  return others;
}

const isUnderDevelopment = ({ pack: { origin } }: InspectedPack) =>
  origin === "self" || origin === "workspace";

/** A pack that is never installed from a registry may rely on what is around it. */
const isPublished = (inspected: InspectedPack) =>
  !isUnderDevelopment(inspected) || inspected.manifest.value.private !== true;

/** What npm would not publish of some files of a package. */
async function findLeftOut(
  { findWorkspace }: FactSources,
  { pack, manifest }: InspectedPack,
  files: readonly string[],
): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const { findPacked } = await import("../packing.ts");
  // If a package lists its files, the workspace's ignore files have no effect.
  const workspace = Array.isArray(manifest.value.files) ? undefined : await findWorkspace();
  const packed = await findPacked({ packageRoot: pack.location, manifest: manifest.value, files, workspace });
  return new Set(packed === undefined ? [] : files.filter((file) => !packed.has(file)));
}

async function findUnpublished(
  sources: FactSources,
  inspected: InspectedPack,
  reached: readonly NeededFile[],
): Promise<NeededFile[]> {
  const { pack, manifest } = inspected;
  if (!isUnderDevelopment(inspected) || !isPublished(inspected)) return [];
  const needed = reached.filter(
    ({ file }) => !/^(?:\.\.)?(?:\/|$)/.test(file) && !isBundled(file, manifest.value),
  );
  const files = needed.map(({ file }) => file);
  const left = await findLeftOut(sources, inspected, files);
  return needed.filter(
    ({ file }) => left.has(file) && sources.port.describePath(pack.location, file) === "file",
  );
}

/** The JavaScript modules of the package that npm publishes. */
function listModules(reached: readonly NeededFile[], unpublished: readonly NeededFile[]): string[] {
  const missing = new Set(unpublished.map(({ file }) => file));
  return reached.flatMap(({ file }) => (isJavaScript(file) && !missing.has(file) ? file : []));
}

/** Keys of package.json that are relevant for a pack. */
const manifestKeys = [
  "trailblaze",
  ...["name", "version", "description", "type", "private", "engines", "keywords", "scripts", "files"],
  ...["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"],
];

async function findRepeated({ text, value }: Manifest): Promise<Path[]> {
  if (!hasDuplicateKeys(text, value)) return [];
  const { findRepeatedKeys } = await import("../../data/json-positions.ts");
  const top = findRepeatedTopKeys(text);
  const inField = findRepeatedKeys(text, "trailblaze").map(({ path }) => path);
  return [...manifestKeys.filter((key) => top.has(key)).map((key) => [key]), ...inField];
}

function findNearestPaths(files: ModuleFiles, paths: NeededPaths) {
  const nearest = new Map<string, { nearest?: string | undefined; source?: string }>();
  for (const { location: path, kind } of [...paths.values()].flat()) {
    const found = kind === "absent" ? findNearestFile(files, path) : undefined;
    if (found !== undefined) nearest.set(path, found);
  }
  return nearest;
}

async function findFailingImports(files: ModuleFiles, paths: NeededPaths) {
  const found = new Map<string, FailingImport>();
  for (const { location: path, kind } of [...paths.values()].flat()) {
    const isModule = kind === "file" && isJavaScript(path);
    const failing = isModule ? await findFailingImport(files, path) : undefined;
    if (failing !== undefined) found.set(path, failing);
  }
  return found;
}

/** Collects the facts that checks need beyond the definitions. Parses modules without running them. */
export async function collectFacts(
  sources: FactSources,
  inspected: InspectedPack,
  builtIns: readonly string[],
): Promise<PackFacts> {
  const { port, findContext } = sources;
  const { pack, manifest, items } = inspected;
  const elsewhere = findReferencesElsewhere(inspected);
  const serverPackages = collectServerPackages(port, inspected);
  const project = elsewhere.length > 0 || lacksPackage(serverPackages) ? await findContext() : undefined;
  if (project !== undefined) await lookUpReferences(port, project, elsewhere, pack);
  const paths = collectPaths(port, pack.location, items);
  const needed = findNeededFiles(items, paths);
  const files = new ModuleFiles(port, pack.location, manifest.value);
  const reached = await followImports(files, needed);
  const resourceFiles = findResourceFiles(items);
  const unpublished = await findUnpublished(sources, inspected, [...reached, ...resourceFiles]);
  const published = listModules(reached, unpublished);
  // The evaluation of a definition that is code has already reported its problems.
  const isReported = new Set(inspected.problems.map(({ file }) => file));
  const unreported = published.filter((file) => !isReported.has(file));
  const moduleFaults = new Map<string, ModuleFault>();
  for (const file of unreported) {
    const module = await files.get(file);
    if ("fault" in module && module.fault !== undefined) moduleFaults.set(file, module.fault);
  }
  const modules = await collectModules(files, inspected, { followImports: true });
  return {
    inspected,
    installed: project?.packs.map((found) => found.pack) ?? [],
    otherPackages: project ? findOtherPackages(port, elsewhere, project, pack.location) : new Map(),
    advertised: findMistakenNames(inspected, elsewhere),
    dependencies: declaredDependencies(manifest),
    builtIns,
    ...(project === undefined ? {} : { manager: managerIn(port, project) }),
    unpublished,
    undeclared: isPublished(inspected)
      ? await findUndeclared(files, published, manifest.value, inspected.problems)
      : [],
    outsideImports:
      isUnderDevelopment(inspected) && isPublished(inspected)
        ? await findOutsideImports(files, unreported, manifest.value)
        : [],
    typeScript: isUnderDevelopment(inspected)
      ? await findTypeScript(files, inspected, needed, published)
      : [],
    ...(isUnderDevelopment(inspected) && isPublished(inspected)
      ? {
          unpublishedExports: [...(await findLeftOut(sources, inspected, findExportFiles(port, pack)))],
        }
      : {}),
    failingImports: await findFailingImports(files, paths),
    moduleTexts: files.texts,
    moduleFaults,
    modules,
    expressionFaults: await collectExpressions(items),
    paths,
    resourceFiles: collectResourceFiles(port, pack.location, resourceFiles),
    serverPackages,
    repeatedKeys: await findRepeated(manifest),
    nearestPaths: findNearestPaths(files, paths),
    dependencyCommands: findDependencyCommands(port, inspected),
  };
}
