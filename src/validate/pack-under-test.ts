import type { FoundPacks } from "../discovery/find-packs.ts";
import { declaredDependencies } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { Workspace } from "../discovery/workspace.ts";
import { findReferences, withoutRange } from "../extension-schema/references.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { findCommandOwner } from "../inspection/server-package.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import type { PackageManager, Path } from "../problems/index.ts";
import { ModuleFiles, type ModuleImport } from "./modules/module-files.ts";
import type { ModuleFault } from "./modules/parse-module.ts";
import {
  findNeededFiles,
  findResourceFiles,
  isInBundled,
  isInPackage,
  isJavaScript,
  type NeededFile,
} from "./needed-files.ts";

function lazy<Fact>(compute: () => Fact): () => Fact {
  let known: { fact: Fact } | undefined;
  return () => {
    known ??= { fact: compute() };
    return known.fact;
  };
}

/** Computes a fact about each key when it is first asked for. */
function lazyMap<Key, Fact>(compute: (key: Key) => Fact): (key: Key) => Fact {
  const known = new Map<Key, { fact: Fact }>();
  return (key) => {
    const { fact } = known.get(key) ?? { fact: compute(key) };
    known.set(key, { fact });
    return fact;
  };
}

/** Where facts come from beyond the definitions, each used on demand. */
interface FactSources {
  port: InspectionPort;
  /** The packs around the pack. Not asked in sessions. */
  findContext: () => Promise<FoundPacks>;
  findWorkspace: () => Promise<Workspace>;
  builtIns: readonly string[];
  /** The project's package manager, in a session, which starts without facts that take long. */
  sessionManager?: PackageManager;
}

export interface ListedToolset {
  toolset: InspectedItem;
  reference: string;
  path: Path;
}

/** A pack with the facts that several checks need, each computed when a check asks for it. Modules are parsed, not run. */
export class PackUnderTest {
  readonly inspected: InspectedPack;
  readonly port: InspectionPort;
  readonly builtIns: readonly string[];
  readonly files: ModuleFiles;
  readonly isUnderDevelopment: boolean;
  /** False for a pack that is never installed from a registry, and so may rely on what is around it. */
  readonly isPublished: boolean;
  readonly #sources: FactSources;
  readonly #isInSession: boolean;
  #stepsLeft = 1_000_000;

  constructor(inspected: InspectedPack, sources: FactSources) {
    const { pack, manifest } = inspected;
    this.inspected = inspected;
    this.port = sources.port;
    this.builtIns = sources.builtIns;
    this.files = new ModuleFiles(sources.port, pack.location, manifest.value);
    this.isUnderDevelopment = pack.origin === "self" || pack.origin === "workspace";
    this.isPublished = !this.isUnderDevelopment || manifest.value.private !== true;
    this.#sources = sources;
    this.#isInSession = sources.sessionManager !== undefined;
  }

  readonly dependencies = lazy(() => declaredDependencies(this.inspected.manifest));

  readonly findCommandOwner = lazyMap((command: string) =>
    findCommandOwner(this.port, this.inspected.pack.location, this.dependencies(), command),
  );

  /** The pack's own toolsets, by short and by qualified name. */
  readonly #toolsets = lazy(() => {
    const toolsets = new Map<string, InspectedItem>();
    for (const item of this.inspected.items)
      if (item.declaration.kind === "toolset")
        toolsets.set(item.declaration.name, item).set(item.qualifiedName, item);
    return toolsets;
  });
  readonly listedToolsets = lazyMap((item: InspectedItem): readonly ListedToolset[] =>
    findReferences(item).flatMap(({ reference, kind, path }) => {
      const toolset = kind === "toolset" ? this.#toolsets().get(withoutRange(reference)) : undefined;
      return toolset === undefined ? [] : { toolset, reference, path };
    }),
  );

  /**
   * The pack's own toolsets that a server lists, directly or through others, once for each time, with the place in the
   * server. At most a million in all, because servers may share thousands.
   */
  *walkToolsets(server: InspectedItem): Generator<ListedToolset & { isRepeated: boolean }> {
    const seen = new Set<InspectedItem>();
    const listed = [...this.listedToolsets(server)];
    for (const one of listed) {
      const { toolset, path } = one;
      if (--this.#stepsLeft < 0) return;
      const isRepeated = seen.has(toolset);
      yield { ...one, isRepeated };
      if (isRepeated) continue;
      seen.add(toolset);
      for (const inner of this.listedToolsets(toolset)) listed.push({ ...inner, path });
    }
  }

  /** The files that items need, without those of resources and what modules import. */
  readonly needed = lazy(() => findNeededFiles(this.inspected.items));

  readonly context = lazy(() => this.#sources.findContext());
  readonly manager = lazy(
    async () => this.#sources.sessionManager ?? managerIn(this.port, (await this.context()).workspace),
  );

  readonly #followed = lazy(async () => {
    const followed: ModuleImport[] = [];
    const modules = this.needed().map(({ file }) => file);
    for await (const one of this.files.follow(modules)) followed.push(one);
    return followed;
  });

  /** The needed files and what they import, by path, each with the first place that needs it. */
  readonly #reached = lazy(async () => {
    const reached = new Map<string, NeededFile>();
    for (const one of this.needed()) if (!reached.has(one.file)) reached.set(one.file, one);
    for (const { file: importer, target } of await this.#followed()) {
      const [owner, file] = [reached.get(importer), "file" in target ? target.file : ".."];
      if (owner !== undefined && isInPackage(file) && !reached.has(file))
        reached.set(file, { ...owner, file, importer });
    }
    return reached;
  });

  /** Existing files that items need but npm would not publish; empty for installed and private packs. */
  readonly unpublished = lazy(async (): Promise<readonly NeededFile[]> => {
    if (!this.isUnderDevelopment || !this.isPublished) return [];
    const { items, manifest } = this.inspected;
    const needed = [...(await this.#reached()).values(), ...findResourceFiles(items)].filter(
      ({ file }) => !/^(?:\.\.)?(?:\/|$)/.test(file) && !isInBundled(file, manifest.value),
    );
    const left = await this.findLeftOut(needed.map(({ file }) => file));
    return needed.filter(({ file }) => left.has(file) && this.files.kindOf(file) === "file");
  });

  readonly #missing = lazy(async () => new Set((await this.unpublished()).map(({ file }) => file)));

  readonly imports = lazy(async () => {
    const missing = await this.#missing();
    return (await this.#followed()).filter(({ file }) => !missing.has(file));
  });

  /** Published modules that Node cannot load, unless their evaluation as definitions has already reported it. */
  readonly moduleFaults = lazy(async (): Promise<ReadonlyMap<string, ModuleFault>> => {
    const faults = new Map<string, ModuleFault>();
    if (this.#isInSession) return faults;
    const missing = await this.#missing();
    const reported = new Set(this.inspected.problems.map(({ file }) => file));
    for (const file of (await this.#reached()).keys()) {
      if (!isJavaScript(file) || missing.has(file) || reported.has(file)) continue;
      const module = await this.files.get(file);
      if ("fault" in module && module.fault !== undefined) faults.set(file, module.fault);
    }
    return faults;
  });

  /** Why Node would fail to load a module of the package; `undefined` if it would not, or in sessions. */
  readonly findFailingImport = lazyMap(async (module: string) =>
    this.#isInSession ? undefined : this.files.findFailingImport(module),
  );

  /** What npm would not publish of some files of a pack under development. */
  async findLeftOut(files: readonly string[]): Promise<ReadonlySet<string>> {
    if (files.length === 0 || !this.isUnderDevelopment || !this.isPublished) return new Set();
    const { pack, manifest } = this.inspected;
    const { findPacked } = await import("./packing.ts");
    // If a package lists its files, the workspace's ignore files have no effect.
    const found = Array.isArray(manifest.value.files) ? undefined : await this.#sources.findWorkspace();
    const workspace = found?.isDeclared ? found : undefined;
    const request = { packageRoot: pack.location, manifest: manifest.value, files, workspace };
    const packed = await findPacked(request);
    return new Set(packed === undefined ? [] : files.filter((file) => !packed.has(file)));
  }
}
