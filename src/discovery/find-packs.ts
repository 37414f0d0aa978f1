import { join } from "node:path";
import { isAllowed, isNeededForTools, type PacksPolicy, readPacksPolicy } from "../config/packs-policy.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { createProblem, type PackageManager, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { describePack } from "./describe-pack.ts";
import { describeFault, isFault, readManifest } from "./manifest.ts";
import { compareText, orderPacks, shadowCopies } from "./order-packs.ts";
import {
  ancestorsOf,
  declaredDependencies,
  denoFiles,
  findDenoFile,
  findProject,
  type Project,
} from "./project.ts";
import { findProjectManager, nameManager } from "./project-manager.ts";
import type { FoundPack, Origin } from "./types.ts";
import { PackageWalk, type WalkedPackage } from "./walk-packages.ts";
import { searchWorkspace, type Workspace } from "./workspace.ts";

/** Where packs are looked for. */
export interface DiscoveryOptions {
  /** A folder of the project; default: the working folder of the process. */
  cwd?: string;
  /** Also search npm's folder of globally installed packages. */
  global?: boolean;
}

export interface FindOptions extends DiscoveryOptions {
  /** Which packs are allowed; default: the policy in the project's config, which is read only in this case. */
  policy?: PacksPolicy | undefined;
}

/** The results of discovery, with details for the levels above it. */
export interface FoundPacks {
  project: string;
  packs: FoundPack[];
  problems: Problem[];
  /** The problem of each package whose package.json cannot be used, by location. */
  broken: ReadonlyMap<string, Problem>;
  /** Location of the package that code in the project would import by this npm name. */
  resolvePackage(name: string): string | undefined;
  /** The package manager for commands in hints; determined on first access. */
  readonly manager: PackageManager;
}

/** Resolves like Node: to the nearest node_modules with a folder of this name. */
export function resolveFrom(port: DiscoveryPort, directory: string, name: string): string | undefined {
  if (!isPackageName(name)) return undefined;
  for (const ancestor of ancestorsOf(directory)) {
    const path = join(ancestor, "node_modules", name);
    if (port.exists(path)) return port.realPath(path);
  }
  return undefined;
}

/** The start of the name of the folder that Deno makes for the project itself in its store: `@acme+app@`. */
function nameInDenoStore({ manifest }: Project): string | undefined {
  const { name } = manifest?.value ?? {};
  return typeof name === "string" ? `${name.replace("/", "+")}@` : undefined;
}

/** Walks the packages that are installed for the project and its workspace: relevant ones, or all. */
export function walkProject(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
  declared: ReadonlySet<string>,
  which: "always" | "ifRelevant" = "ifRelevant",
): PackageWalk {
  const walk = new PackageWalk(port, which, nameInDenoStore(project));
  const folders = new Set([project.directory, ...(workspace ? [workspace.root, ...workspace.members] : [])]);
  for (const folder of folders) walk.addFolder(folder);
  // Node also searches the node_modules of parent folders, of which only declared dependencies belong to the project.
  const hasMoreAbove = [...ancestorsOf(project.directory)].some(
    (folder) => !folders.has(folder) && port.exists(join(folder, "node_modules")),
  );
  if (hasMoreAbove) {
    for (const name of declared) {
      const location = resolveFrom(port, project.directory, name);
      if (location !== undefined) walk.addPackage(location, name);
    }
  }
  return walk;
}

/** Adds the package of the project or of its workspace. */
function addSource(walk: PackageWalk, port: DiscoveryPort, location: string): void {
  const read = readManifest(port, location, "always");
  if (typeof read === "object") walk.found.set(location, { location, installedAs: new Set(), read });
}

/** True for packages under development, which the user can fix. */
function isSource(origin: Origin): boolean {
  return origin === "self" || origin === "workspace";
}

/** Decides for every pack whether sessions use it, according to package.json files and the policy. */
function decideEnabled(packs: readonly FoundPack[], policy: PacksPolicy): FoundPack[] {
  return packs.map((found) => {
    const { pack, isUsable } = found;
    const { qualifiedName, origin, shadowed } = pack;
    const items = kinds.flatMap((kind) => pack[keyOfKind[kind]].map((item) => item.qualifiedName));
    const options = { isTransitive: origin === "transitive" };
    const names = new Set(items);
    const isNeeded = (server: string) =>
      isNeededForTools(policy, { pack: qualifiedName, server, items: names }, options);
    const enabled =
      isUsable &&
      !shadowed &&
      origin !== "global" &&
      (isAllowed(policy, qualifiedName, items, options) ||
        pack.servers.some((server) => isNeeded(server.qualifiedName)));
    return { ...found, pack: { ...pack, enabled } };
  });
}

/** Sorts problems by code and place, which are independent of messages. */
function orderProblems(problems: readonly Problem[]): Problem[] {
  return problems.toSorted(
    (a, b) =>
      compareText(a.code, b.code) ||
      compareText(a.pack ?? "", b.pack ?? "") ||
      compareText(a.file ?? "", b.file ?? "") ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
}

/**
 * Finds Yarn Plug'n'Play's file for a project. If the project has its own node_modules, files above its workspace belong to
 * another project.
 */
function findPlugAndPlay(
  port: DiscoveryPort,
  { directory: project }: Project,
  workspace: Workspace | undefined,
): string | undefined {
  const hasPackages = port.exists(join(project, "node_modules"));
  for (const directory of ancestorsOf(project)) {
    const names = [".pnp.cjs", ".pnp.js"] as const;
    const name = names.find((one) => port.hasProjectFile(directory, one));
    if (name !== undefined) return join(directory, name);
    if (hasPackages && directory === (workspace?.root ?? project)) break;
  }
  return undefined;
}

/** Finds Deno's file in a project whose dependencies Deno keeps in its cache. */
function findDenoCache(
  port: DiscoveryPort,
  { directory }: Project,
  workspace: Workspace | undefined,
  declared: ReadonlySet<string>,
): string | undefined {
  const folders = [...new Set([directory, workspace?.root ?? directory])];
  if (declared.size === 0 || folders.some((folder) => port.exists(join(folder, "node_modules"))))
    return undefined;
  return folders.flatMap((folder) => findDenoFile(port, folder, denoFiles) ?? [])[0];
}

/**
 * Finds every installed pack. Reads only package.json files, the project's config, its workspace file and metadata of
 * package managers, which the port enforces. Trust level: discovery.
 * Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`.
 */
export async function findPacks(
  port: DiscoveryPort,
  { cwd = process.cwd(), global: withGlobal = false, policy: explicitPolicy }: FindOptions = {},
): Promise<FoundPacks> {
  const project = findProject(port, cwd);
  const policy = explicitPolicy ?? (await readPacksPolicy(port, project.directory));
  const { workspace, problems } = await searchWorkspace(port, project);
  const declared = declaredDependencies(project.manifest);
  const walk = walkProject(port, project, workspace, declared);
  const sources = new Set(workspace ? [workspace.root, ...workspace.members] : []);
  for (const location of new Set([project.directory, ...sources])) addSource(walk, port, location);

  const globalWalk = new PackageWalk(port);
  const globalFolder = withGlobal ? await port.globalPackages() : undefined;
  if (globalFolder !== undefined) globalWalk.addNodeModules(port.realPath(globalFolder) ?? globalFolder);

  const resolvePackage = (name: string) => resolveFrom(port, project.directory, name);
  const isDeclared = ({ location, installedAs }: WalkedPackage) =>
    [...installedAs].some((name) => declared.has(name) && resolvePackage(name) === location);
  const originOf = (walked: WalkedPackage): Origin => {
    const { location } = walked;
    if (location === project.directory) return "self";
    if (sources.has(location)) return "workspace";
    if (isDeclared(walked)) return "direct";
    return walk.found.has(location) ? "transitive" : "global";
  };

  const packs: FoundPack[] = [];
  const broken = new Map<string, Problem>();
  for (const walked of [...walk.found.values(), ...globalWalk.found.values()]) {
    const { location, read, installedAs } = walked;
    if (globalWalk.found.get(location) === walked && walk.found.has(location)) continue;
    const origin = originOf(walked);
    const names = [...installedAs].sort();
    // A broken package is an error if it is the project or one of its declared dependencies.
    const context = origin === "self" || isDeclared(walked) ? "operation" : "bystander";
    if (isFault(read)) {
      broken.set(location, await describeFault(read, names[0], { context, isSource: isSource(origin) }));
    } else if (Object.hasOwn(read.value, "trailblaze")) {
      const pack = await describePack(location, read, origin, names, "operation", context);
      const isAlias = (name: string) => name !== pack.pack.name && resolvePackage(name) === location;
      if (names.some(isAlias)) pack.pack.aliases = names.filter(isAlias);
      packs.push(pack);
    }
  }

  const byLocation = [...broken].sort(([one], [other]) => compareText(one, other));
  problems.push(...byLocation.map(([, problem]) => problem));
  const pnpFile = findPlugAndPlay(port, project, workspace);
  if (pnpFile !== undefined)
    problems.push(createProblem("UnsupportedLayout", { layout: "pnp", file: pnpFile }));
  const denoFile = findDenoCache(port, project, workspace, declared);
  if (denoFile !== undefined)
    problems.push(createProblem("UnsupportedLayout", { layout: "deno", file: denoFile }));

  const ordered = await orderPacks(packs);
  let manager: PackageManager | undefined;
  const findManager = () => {
    manager ??= nameManager(findProjectManager(port, project, workspace));
    return manager;
  };
  shadowCopies(ordered, resolvePackage, findManager);
  return {
    project: project.directory,
    packs: decideEnabled(ordered, policy),
    problems: orderProblems(problems),
    broken,
    resolvePackage,
    get manager() {
      return findManager();
    },
  };
}
