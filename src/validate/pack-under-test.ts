import { lazy, memoize } from "../data/memoize.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { declaredDependencies } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { findReferences, withoutRange } from "../extension-schema/references.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import { findCommandOwner } from "../inspection/server-package.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { ModuleFiles, type ModuleImport } from "./modules/module-files.ts";
import type { ModuleFault } from "./modules/parse-module.ts";
import {
  findContainingPackage,
  findNeededFiles,
  isInPackage,
  isJavaScript,
  type NeededFile,
} from "./needed-files.ts";

/** What facts need beyond the definitions. */
interface PackOptions {
  /** The packs around it, which may take a search. */
  findContext: () => Promise<FoundPacks>;
  builtIns?: readonly string[];
  /** A session starts without facts that take long: what modules import is not followed. */
  isInSession?: boolean;
}

/** A pack with the facts that several checks need, each computed when a check asks for it. Modules are parsed, not run. */
export class PackUnderTest {
  readonly inspected: InspectedPack;
  readonly port = inspectionPort;
  readonly builtIns: readonly string[];
  readonly files: ModuleFiles;
  readonly isUnderDevelopment: boolean;
  /** False for a pack that is never installed from a registry, and so may rely on what is around it. */
  readonly isPublished: boolean;
  readonly #options: PackOptions;
  #stepsLeft = 1_000_000;

  constructor(inspected: InspectedPack, options: PackOptions) {
    const { pack, manifest } = inspected;
    this.inspected = inspected;
    this.builtIns = options.builtIns ?? [];
    this.files = new ModuleFiles(pack.location, manifest.value);
    this.isUnderDevelopment = pack.origin === "self" || pack.origin === "workspace";
    this.isPublished = !this.isUnderDevelopment || manifest.value.private !== true;
    this.#options = options;
  }

  readonly dependencies = lazy(() => declaredDependencies(this.inspected.manifest));

  readonly findCommandOwner = memoize((command: string) =>
    findCommandOwner(this.port, this.inspected.pack.location, this.dependencies(), command),
  );

  /** Whether npm publishes a dependency as part of the pack. */
  isBundled(name: string): boolean {
    const { value } = this.inspected.manifest;
    const bundled = value.bundleDependencies ?? value.bundledDependencies;
    return bundled === true || (Array.isArray(bundled) && bundled.includes(name));
  }

  isInBundled(file: string): boolean {
    const name = file.startsWith("node_modules/") ? findContainingPackage(file) : undefined;
    return name !== undefined && this.isBundled(name);
  }

  /** The pack's own toolsets, by short and by qualified name. */
  readonly #toolsets = lazy(() => {
    const toolsets = new Map<string, InspectedItem>();
    for (const item of this.inspected.items)
      if (item.declaration.kind === "toolset")
        toolsets.set(item.declaration.name, item).set(item.qualifiedName, item);
    return toolsets;
  });
  readonly listedToolsets = memoize((item: InspectedItem) =>
    findReferences(item).flatMap(({ reference, kind, path }) => {
      const toolset = kind === "toolset" ? this.#toolsets().get(withoutRange(reference)) : undefined;
      return toolset === undefined ? [] : { toolset, reference, path };
    }),
  );

  /**
   * The pack's own toolsets that a server lists, directly or through others, once for each time, with the place in the
   * server. At most a million in all, because servers may share thousands.
   */
  *walkToolsets(server: InspectedItem) {
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

  readonly context = lazy(() => this.#options.findContext());
  readonly manager = lazy(async () => managerIn(this.port, (await this.context()).workspace));

  /** The imports of needed modules, and the files that are needed or imported, each with the first place that needs it. */
  readonly followed = lazy(async () => {
    const reached = new Map<string, NeededFile>();
    for (const one of this.needed()) if (!reached.has(one.file)) reached.set(one.file, one);
    const imports: ModuleImport[] = [];
    for await (const one of this.files.follow(reached.keys())) {
      imports.push(one);
      const [owner, file] = [reached.get(one.file), "file" in one.target ? one.target.file : ".."];
      if (owner !== undefined && isInPackage(file) && !reached.has(file))
        reached.set(file, { ...owner, file, importer: one.file });
    }
    return { reached, imports };
  });

  /** The needed modules that Node cannot load, unless their evaluation as definitions has already reported it. */
  readonly moduleFaults = lazy(async (): Promise<ReadonlyMap<string, ModuleFault>> => {
    const faults = new Map<string, ModuleFault>();
    if (this.#options.isInSession) return faults;
    const reported = new Set(this.inspected.problems.map(({ file }) => file));
    for (const file of (await this.followed()).reached.keys()) {
      if (!isJavaScript(file) || reported.has(file)) continue;
      const module = await this.files.get(file);
      if ("fault" in module && module.fault !== undefined) faults.set(file, module.fault);
    }
    return faults;
  });

  /** Why Node would fail to load a module of the package; `undefined` if it would not, or in sessions. */
  readonly findFailingImport = memoize(async (module: string) =>
    this.#options.isInSession ? undefined : this.files.findFailingImport(module),
  );

  /** What npm would not publish of some files of a pack under development. */
  async findLeftOut(files: readonly string[]): Promise<ReadonlySet<string>> {
    if (files.length === 0 || !this.isUnderDevelopment || !this.isPublished) return new Set();
    const { pack, manifest } = this.inspected;
    const { findUnpacked } = await import("./packing.ts");
    const project = { directory: pack.location, manifest };
    // If a package lists its files, the workspace's ignore files have no effect.
    const found = Array.isArray(manifest.value.files) ? undefined : await findWorkspace(this.port, project);
    const workspace = found?.isDeclared ? found : undefined;
    return findUnpacked({ location: pack.location, manifest: manifest.value, workspace }, files);
  }
}
