import { findRepeatedTopKeys, hasDuplicateKeys } from "../../data/duplicate-keys.ts";
import { findPackageClaims } from "../../discovery/package-commands.ts";
import { declaredDependencies } from "../../discovery/project.ts";
import type { DiscoveredPack, Manifest } from "../../discovery/types.ts";
import { findReferences } from "../../extension-schema/references.ts";
import type { InspectionPort, PathKind } from "../../files/inspection-port.ts";
import type { InspectedPack } from "../../inspection/types.ts";
import { keyOfKind, kinds } from "../../kinds.ts";
import type { PackageManager, Path, Problem } from "../../problems/index.ts";
import { isQualifiedName, parseQualifiedName } from "../../qualified-names/index.ts";
import type { CommandClaim } from "../../qualified-names/reserved-commands.ts";
import { collectModules, findNearestFile, type ModuleFacts } from "../modules/collect-modules.ts";
import { followImports } from "../modules/follow-imports.ts";
import { ModuleFiles } from "../modules/module-files.ts";
import { collectExpressions, type ExpressionFault } from "./collect-expressions.ts";
import { findNeededFiles, findNeededPaths, type NeededFile } from "./needed-files.ts";

export type { PathKind } from "../../files/inspection-port.ts";

/** Everything that the checks may know of a pack; gathered beforehand, so that each check is a pure function. */
export interface PackFacts {
  inspected: InspectedPack;
  /** The packs that are installed beside this one; empty where no definition refers to anything but its own pack. */
  installed: readonly DiscoveredPack[];
  /**
   * npm names of packages that definitions refer to and that are installed, but are no packs; with what is wrong with a
   * package.json that cannot be read.
   */
  otherPackages: ReadonlyMap<string, Problem | undefined>;
  /** Items by the names that references give them by mistake, the names by which models know them; absent if not looked for. */
  advertised?: ReadonlyMap<string, string>;
  /** npm names of the packages that package.json declares as dependencies of any kind. */
  dependencies: ReadonlySet<string>;
  /** Names of the host's own tools. */
  builtIns: readonly string[];
  /** The project's package manager; absent where nothing refers to another pack. */
  manager?: PackageManager;
  /** Files that items need, that are there and that npm would not publish; empty where that does not matter. */
  unpublished: readonly NeededFile[];
  /** The modules that handlers name, by their path relative to the package, without a leading `./`. */
  modules: ReadonlyMap<string, ModuleFacts>;
  /** Expressions in bundles that do not compile. */
  expressionFaults: readonly ExpressionFault[];
  /** What the paths lead to that subprocess servers need, by path relative to the package. */
  paths: ReadonlyMap<string, PathKind>;
  /** Keys in the field, and of package.json itself, that are there more than once, from the top of package.json; absent if not looked for. */
  repeatedKeys?: readonly Path[];
  /** Files that may be meant where such a path leads nowhere; absent if not looked for. */
  nearestPaths?: ReadonlyMap<string, string>;
  /** Commands of Trailblaze that the package would take over; absent if not looked for. */
  claims?: readonly CommandClaim[];
}

/** What is around a pack. */
export interface ProjectContext {
  packs: readonly DiscoveredPack[];
  /** Location of the package that code in the project would get by this npm name. */
  resolvePackage(name: string): string | undefined;
  /** What is wrong with the package.json at a location, if it cannot be read. */
  broken: ReadonlyMap<string, Problem>;
  /** The package manager whose commands hints name. */
  manager: PackageManager;
  /** Tools of the packs by the names by which models know them, of those that are asked for. */
  findAdvertised(names: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
}

/** The means of gathering facts, each used only where it is needed. */
export interface FactSources {
  port: InspectionPort;
  findContext: () => Promise<ProjectContext>;
  findWorkspace: () => Promise<{ root: string; members: readonly string[] } | undefined>;
}

/** The references in definitions that lead to no item of the pack itself. */
function findReferencesElsewhere({ items, extension }: InspectedPack): string[] {
  const own = new Set(
    kinds.flatMap((kind) => extension[keyOfKind[kind]].map(({ name }) => `${kind} ${name}`)),
  );
  return items.flatMap((item) =>
    findReferences(item).flatMap(({ reference, kind }) => (own.has(`${kind} ${reference}`) ? [] : reference)),
  );
}

/**
 * The tools that short names mean which are names of no item, but by which models know a tool: the pack's own tools by
 * their short names, then those of other packs by their qualified names.
 */
async function findMistakenNames(
  { items }: InspectedPack,
  elsewhere: readonly string[],
  project: ProjectContext,
): Promise<Map<string, string>> {
  const wanted = new Set(elsewhere.filter((reference) => !reference.includes("/")));
  const found = new Map<string, string>();
  for (const { shape, definition, declaration } of items) {
    const name = shape === "tool" ? definition?.name : undefined;
    if (typeof name === "string" && wanted.delete(name)) found.set(name, declaration.name);
  }
  for (const [name, item] of await project.findAdvertised(wanted)) found.set(name, item);
  return found;
}

function findOtherPackages(
  references: readonly string[],
  { packs, resolvePackage, broken }: ProjectContext,
): Map<string, Problem | undefined> {
  const known = new Set(packs.map(({ name }) => name));
  const names = new Set(references.filter(isQualifiedName).map((one) => parseQualifiedName(one).packageName));
  const others = new Map<string, Problem | undefined>();
  for (const name of names) {
    const location = known.has(name) ? undefined : resolvePackage(name);
    if (location !== undefined) others.set(name, broken.get(location));
  }
  return others;
}

/** True for a file of a dependency that travels inside the package. */
function isBundled(file: string, manifest: Readonly<Record<string, unknown>>): boolean {
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies;
  const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return name !== undefined && (bundled === true || (Array.isArray(bundled) && bundled.includes(name)));
}

async function findUnpublished(
  { port, findWorkspace }: FactSources,
  { pack, manifest: { value: manifest }, items }: InspectedPack,
  modules: ModuleFiles,
): Promise<NeededFile[]> {
  const isUnderDevelopment = pack.origin === "self" || pack.origin === "workspace";
  if (!isUnderDevelopment || manifest.private === true) return [];
  const followed = await followImports(modules, findNeededFiles(items));
  const needed = followed.filter(
    ({ file }) => !/^(?:\.\.)?(?:\/|$)/.test(file) && !isBundled(file, manifest),
  );
  if (needed.length === 0) return [];
  const files = needed.map(({ file }) => file);
  const { findPacked } = await import("../packing/npm-packing.ts");
  // Where a package lists its files, the ignore files of its workspace do not count.
  const workspace = Array.isArray(manifest.files) ? undefined : await findWorkspace();
  const packed = await findPacked({ packageRoot: pack.location, manifest, files, workspace });
  const left = packed === undefined ? [] : needed.filter(({ file }) => !packed.has(file));
  return left.filter(({ file }) => port.describePath(pack.location, file) === "file");
}

/** Keys of package.json that matter to a pack, beside the field. */
const manifestKeys = [
  ...["name", "version", "description", "type", "private", "engines", "keywords", "scripts", "files"],
  ...["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"],
];

async function findRepeated({ text, value }: Manifest): Promise<Path[]> {
  if (!hasDuplicateKeys(text, value)) return [];
  const { findRepeatedKeys } = await import("../../data/json-positions.ts");
  const top = findRepeatedTopKeys(text);
  // The field itself is discovery's to report.
  const inField = findRepeatedKeys(text, "trailblaze").filter((path) => path.length > 1);
  return [...manifestKeys.filter((key) => top.has(key)).map((key) => [key]), ...inField];
}

function findNearestPaths(files: ModuleFiles, paths: ReadonlyMap<string, PathKind>): Map<string, string> {
  const nearest = new Map<string, string>();
  for (const [path, kind] of paths) {
    const found = kind === "absent" ? findNearestFile(files, path)?.nearest : undefined;
    if (found !== undefined) nearest.set(path, found);
  }
  return nearest;
}

/** Gathers what the checks need beyond the definitions. Opens modules to parse them; runs nothing. */
export async function collectFacts(
  sources: FactSources,
  inspected: InspectedPack,
  builtIns: readonly string[],
): Promise<PackFacts> {
  const { port, findContext } = sources;
  const { pack, manifest, items } = inspected;
  const elsewhere = findReferencesElsewhere(inspected);
  const project = elsewhere.length > 0 ? await findContext() : undefined;
  const needed = new Set(items.flatMap(findNeededPaths).map(({ location }) => location));
  const files = new ModuleFiles(port, pack.location);
  // Both follow imports, within one limit of what is read; what would not be published is asked for first.
  const unpublished = await findUnpublished(sources, inspected, files);
  const modules = await collectModules(files, inspected, { followImports: true });
  const paths = new Map([...needed].map((path) => [path, port.describePath(pack.location, path)]));
  return {
    inspected,
    installed: project?.packs ?? [],
    otherPackages: project ? findOtherPackages(elsewhere, project) : new Map(),
    advertised: project ? await findMistakenNames(inspected, elsewhere, project) : new Map(),
    dependencies: declaredDependencies(manifest),
    builtIns,
    ...(project === undefined ? {} : { manager: project.manager }),
    unpublished,
    modules,
    expressionFaults: await collectExpressions(items),
    paths,
    repeatedKeys: await findRepeated(manifest),
    nearestPaths: findNearestPaths(files, paths),
    claims: findPackageClaims(port, pack.location, manifest.value, pack.name),
  };
}
