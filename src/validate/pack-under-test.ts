import { findRepeatedTopKeys, hasDuplicateKeys } from "../data/duplicate-keys.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack, Manifest } from "../discovery/types.ts";
import type { Workspace } from "../discovery/workspace.ts";
import { findReferences } from "../extension-schema/references.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { PackageManager, Path, Problem } from "../problems/index.ts";
import { isQualifiedName, parseQualifiedName } from "../qualified-names/index.ts";
import { findDependencyCommands } from "./facts/dependency-commands.ts";
import { findExportFiles } from "./facts/export-files.ts";
import { collectPaths, findNeededFiles, type NeededFile } from "./facts/needed-files.ts";
import { findOutsideImports, isBundled } from "./facts/outside-imports.ts";
import { collectResourceFiles, findResourceFiles } from "./facts/resource-files.ts";
import { collectServerPackages, lacksPackage } from "./facts/server-packages.ts";
import { findTypeScript } from "./facts/typescript.ts";
import { findUndeclared } from "./facts/undeclared-imports.ts";
import { collectModules } from "./modules/collect-modules.ts";
import { type FailingImport, findFailingImport } from "./modules/failing-imports.ts";
import { followImports, isJavaScript } from "./modules/follow-imports.ts";
import { ModuleFiles } from "./modules/module-files.ts";
import type { ModuleFault } from "./modules/parse-module.ts";

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

/** Keys of package.json that are relevant for a pack. */
const manifestKeys = [
  "trailblaze",
  ...["name", "version", "description", "type", "private", "engines", "keywords", "scripts", "files"],
  ...["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"],
];

async function findRepeated({ text, value }: Manifest): Promise<Path[]> {
  if (!hasDuplicateKeys(text, value)) return [];
  const { findRepeatedKeys } = await import("../data/json-positions.ts");
  const top = findRepeatedTopKeys(text);
  const inField = findRepeatedKeys(text, "trailblaze").map(({ path }) => path);
  return [...manifestKeys.filter((key) => top.has(key)).map((key) => [key]), ...inField];
}

/** Computes a fact when it is first asked for. */
function lazy<Fact>(compute: () => Fact): () => Fact {
  let known: { fact: Fact } | undefined;
  return () => {
    known ??= { fact: compute() };
    return known.fact;
  };
}

/** Where facts come from beyond the definitions, each used on demand. */
interface FactSources {
  port: InspectionPort;
  /** The packs around the pack. Not asked in sessions. */
  findContext: () => Promise<FoundPacks>;
  findWorkspace: () => Promise<Workspace | undefined>;
  /** Names of the host's built-ins. */
  builtIns: readonly string[];
  /** The project's package manager, in a session, which starts without facts that take long. */
  sessionManager?: PackageManager;
}

/** What surrounds a pack that refers to others. */
export interface OtherPacks {
  /** The installed packs; empty if all references are to the pack's own items. */
  installed: readonly DiscoveredPack[];
  /**
   * npm names of installed packages that definitions refer to but that are not packs, with the problem of their
   * package.json if it cannot be read.
   */
  otherPackages: ReadonlyMap<string, Problem | undefined>;
  /** Items by advertised names that references use by mistake. */
  advertised: ReadonlyMap<string, string>;
  manager: PackageManager | undefined;
}

/** A pack with the facts that checks ask for. Modules are parsed without running them. */
export class PackUnderTest {
  readonly inspected: InspectedPack;
  readonly builtIns: readonly string[];
  readonly #sources: FactSources;
  readonly #isInSession: boolean;
  /** The modules of the pack. */
  readonly files: ModuleFiles;

  constructor(inspected: InspectedPack, sources: FactSources) {
    this.inspected = inspected;
    this.builtIns = sources.builtIns;
    this.#sources = sources;
    this.#isInSession = sources.sessionManager !== undefined;
    this.files = new ModuleFiles(sources.port, inspected.pack.location, inspected.manifest.value);
  }

  /** npm names of all dependencies that package.json declares. */
  readonly dependencies = lazy(() => declaredDependencies(this.inspected.manifest));
  /** npm names of installed dependencies by their commands that servers use. */
  readonly dependencyCommands = lazy(() => findDependencyCommands(this.#sources.port, this.inspected));
  /** The programs of subprocess servers that run a package. */
  readonly serverPackages = lazy(() => collectServerPackages(this.#sources.port, this.inspected));
  /** The files and folders that subprocess servers need. */
  readonly paths = lazy(() =>
    collectPaths(this.#sources.port, this.inspected.pack.location, this.inspected.items),
  );
  /** The files with the contents of resources. */
  readonly resourceFiles = lazy(() =>
    collectResourceFiles(this.#sources.port, this.inspected.pack.location, this.#resources()),
  );
  readonly #resources = lazy(() => findResourceFiles(this.inspected.items));
  readonly #needed = lazy(() => findNeededFiles(this.inspected.items, this.paths()));

  readonly others = lazy(async (): Promise<OtherPacks> => {
    const { port, findContext, sessionManager: manager } = this.#sources;
    const elsewhere = findReferencesElsewhere(this.inspected);
    const advertised = findMistakenNames(this.inspected, elsewhere);
    const isAlone = elsewhere.length === 0 && !lacksPackage(this.serverPackages());
    if (isAlone || this.#isInSession) return { installed: [], otherPackages: new Map(), advertised, manager };
    const project = await findContext();
    await lookUpReferences(port, project, elsewhere, this.inspected.pack);
    return {
      installed: project.packs.map((found) => found.pack),
      otherPackages: findOtherPackages(port, elsewhere, project, this.inspected.pack.location),
      advertised,
      manager: managerIn(port, project),
    };
  });

  /** The modules of handlers by path relative to the package, without a leading `./`. */
  readonly modules = lazy(() =>
    collectModules(this.files, this.inspected, { followImports: !this.#isInSession }),
  );
  readonly #reached = lazy(() => followImports(this.files, this.#needed()));

  /** Existing files that items need but npm would not publish; empty for installed and private packs. */
  readonly unpublished = lazy(async (): Promise<readonly NeededFile[]> => {
    const { pack, manifest } = this.inspected;
    if (!isUnderDevelopment(this.inspected) || manifest.value.private === true) return [];
    const needed = [...(await this.#reached()), ...this.#resources()].filter(
      ({ file }) => !/^(?:\.\.)?(?:\/|$)/.test(file) && !isBundled(file, manifest.value),
    );
    const left = await this.#findLeftOut(needed.map(({ file }) => file));
    return needed.filter(
      ({ file }) => left.has(file) && this.#sources.port.describePath(pack.location, file) === "file",
    );
  });

  /** Files that `trailblaze export` wrote and npm would not publish. */
  readonly unpublishedExports = lazy(async () =>
    isUnderDevelopment(this.inspected) && isPublished(this.inspected)
      ? this.#findLeftOut(findExportFiles(this.#sources.port, this.inspected.pack))
      : new Set<string>(),
  );

  /** The JavaScript modules of the package that npm publishes. */
  readonly #published = lazy(async () => {
    const missing = new Set((await this.unpublished()).map(({ file }) => file));
    return (await this.#reached()).flatMap(({ file }) =>
      isJavaScript(file) && !missing.has(file) ? file : [],
    );
  });

  /** Published modules without those whose evaluation as definitions has already reported its problems. */
  readonly #unreported = lazy(async () => {
    const isReported = new Set(this.inspected.problems.map(({ file }) => file));
    return (await this.#published()).filter((file) => !isReported.has(file));
  });

  /** Modules that Node cannot load. */
  readonly moduleFaults = lazy(async (): Promise<ReadonlyMap<string, ModuleFault>> => {
    const faults = new Map<string, ModuleFault>();
    for (const file of this.#isInSession ? [] : await this.#unreported()) {
      const module = await this.files.get(file);
      if ("fault" in module && module.fault !== undefined) faults.set(file, module.fault);
    }
    return faults;
  });

  /** Packages that published modules import and package.json does not declare. */
  readonly undeclared = lazy(async () =>
    isPublished(this.inspected)
      ? findUndeclared(
          this.files,
          await this.#published(),
          this.inspected.manifest.value,
          this.inspected.problems,
        )
      : [],
  );

  /** Imports of files outside the package; empty for installed and private packs. */
  readonly outsideImports = lazy(async () =>
    isUnderDevelopment(this.inspected) && isPublished(this.inspected)
      ? findOutsideImports(this.files, await this.#unreported(), this.inspected.manifest.value)
      : [],
  );

  /** TypeScript that an installed pack would have to run. */
  readonly typeScript = lazy(async () =>
    isUnderDevelopment(this.inspected)
      ? findTypeScript(this.files, this.inspected, this.#needed(), await this.#published())
      : [],
  );

  /** Paths of duplicate keys in package.json and the field. */
  readonly repeatedKeys = lazy(() => findRepeated(this.inspected.manifest));

  /** Why the program of a server would fail to load a file of the package; `undefined` if it would not, or in sessions. */
  async findFailingImport(program: string): Promise<FailingImport | undefined> {
    return this.#isInSession || !isJavaScript(program) ? undefined : findFailingImport(this.files, program);
  }

  /** What npm would not publish of some files. */
  async #findLeftOut(files: readonly string[]): Promise<ReadonlySet<string>> {
    if (files.length === 0) return new Set();
    const { pack, manifest } = this.inspected;
    const { findPacked } = await import("./packing.ts");
    // If a package lists its files, the workspace's ignore files have no effect.
    const workspace = Array.isArray(manifest.value.files) ? undefined : await this.#sources.findWorkspace();
    const packed = await findPacked({
      packageRoot: pack.location,
      manifest: manifest.value,
      files,
      workspace,
    });
    return new Set(packed === undefined ? [] : files.filter((file) => !packed.has(file)));
  }
}
