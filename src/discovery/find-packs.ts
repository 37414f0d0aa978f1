import { join, resolve, sep } from "node:path";
import { isAllowed, type PacksPolicy, readPacksPolicy } from "../config/packs-policy.ts";
import { isRecord, parseJson } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { createProblem, type PackageManager, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { describePack } from "./describe-pack.ts";
import { describeFault, isFault, readManifest } from "./manifest.ts";
import { compareText, orderPacks, shadowCopies } from "./order-packs.ts";
import { ancestorsOf, declaredDependencies, findProject, type Project } from "./project.ts";
import { findProjectManager, nameManager } from "./project-manager.ts";
import type { FoundPack, Origin } from "./types.ts";
import { PackageWalk, type WalkedPackage } from "./walk-packages.ts";
import { searchWorkspace, type Workspace } from "./workspace.ts";

export interface DiscoveryOptions {
  /** Folder to look from; default: the process's. */
  cwd?: string;
  /** Also look into npm's folder of globally installed packages. */
  global?: boolean;
}

export interface FindOptions extends DiscoveryOptions {
  /** Which packs are let in; default: what the project's config says, which is not read where this is given. */
  policy?: PacksPolicy | undefined;
}

/** Everything found, with what the levels above discovery need. */
export interface FoundPacks {
  project: string;
  packs: FoundPack[];
  problems: Problem[];
  /** The problem of each package whose package.json cannot be used, by location. */
  broken: ReadonlyMap<string, Problem>;
  /** Location of the package that code in the project would get by this npm name. */
  resolvePackage(name: string): string | undefined;
  /** The package manager whose commands hints name; looked for when it is asked for. */
  readonly manager: PackageManager;
}

/** Node's own rule: the nearest node_modules with a folder of that name. */
function resolveFrom(port: DiscoveryPort, directory: string, name: string): string | undefined {
  if (!isPackageName(name)) return undefined;
  for (const ancestor of ancestorsOf(directory)) {
    const path = join(ancestor, "node_modules", name);
    if (port.exists(path)) return port.realPath(path);
  }
  return undefined;
}

/** pnpm writes down where its store is; needed only where it is not in its usual place. */
async function findMovedStore(port: DiscoveryPort, directory: string): Promise<string | undefined> {
  if (port.exists(join(directory, "node_modules", ".pnpm"))) return undefined;
  const file = port.readProjectFile(directory, "node_modules/.modules.yaml");
  if (file === undefined) return undefined;
  const { parseYaml } = await import("../data/parse-yaml.ts");
  try {
    // The file tells of every package too. What concerns us has a line of its own, unless all of it is JSON.
    const text = Buffer.from(file).toString();
    const line = /^virtualStoreDir:.{1,4096}$/m.exec(text)?.[0];
    const value = line === undefined ? parseJson(text).value : parseYaml(Buffer.from(line)).value;
    const store = isRecord(value) ? value.virtualStoreDir : undefined;
    return typeof store === "string" ? port.realPath(resolve(directory, "node_modules", store)) : undefined;
  } catch {
    return undefined;
  }
}

/** Walks everything that is installed for the project and its workspace: packages that concern us, or all. */
export async function walkProject(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
  declared: ReadonlySet<string>,
  which: "always" | "ifRelevant" = "ifRelevant",
): Promise<PackageWalk> {
  const walk = new PackageWalk(port, which);
  const folders = new Set([project.directory, ...(workspace ? [workspace.root, ...workspace.members] : [])]);
  for (const folder of folders) {
    const store = await findMovedStore(port, folder);
    // A store outside the project serves other projects too; links lead to what is this one's.
    if (store?.startsWith(`${folder}${sep}`)) walk.addStore(store);
    else if (store !== undefined) walk.addSharedStore(store);
    walk.addFolder(folder);
  }
  // Node also looks into node_modules of folders above; what is there belongs to others, but for what we declare.
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

/** Takes a package that the project and not a folder of packages led to. */
function addSource(walk: PackageWalk, port: DiscoveryPort, location: string): void {
  const read = readManifest(port, location, "always");
  if (typeof read === "object") walk.found.set(location, { location, installedAs: new Set(), read });
}

/** True for packages under development, which their author can mend. */
function isSource(origin: Origin): boolean {
  return origin === "self" || origin === "workspace";
}

/** Decides for every pack whether a session takes it, as far as package.json files and the policy tell. */
function decideEnabled(packs: readonly FoundPack[], policy: PacksPolicy): FoundPack[] {
  return packs.map((found) => {
    const { pack, isUsable } = found;
    const { qualifiedName, origin, shadowed } = pack;
    const items = kinds.flatMap((kind) => pack[keyOfKind[kind]].map((item) => item.qualifiedName));
    const enabled =
      isUsable &&
      !shadowed &&
      origin !== "global" &&
      isAllowed(policy, qualifiedName, items, { isTransitive: origin === "transitive" });
    return { ...found, pack: { ...pack, enabled } };
  });
}

/** Problems in the order of their codes and places, which does not change with their words. */
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
 * Yarn Plug'n'Play's files for a project. Those above its workspace are another's where it has packages of its own.
 */
function findPlugAndPlay(
  port: DiscoveryPort,
  { directory: project }: Project,
  workspace: Workspace | undefined,
): string[] {
  const found: string[] = [];
  const hasPackages = port.exists(join(project, "node_modules"));
  for (const directory of ancestorsOf(project)) {
    for (const file of [".pnp.cjs", ".pnp.js"] as const) {
      if (port.hasProjectFile(directory, file)) found.push(join(directory, file));
    }
    if (hasPackages && directory === (workspace?.root ?? project)) break;
  }
  return found;
}

/**
 * Finds every installed pack. Reads package.json files, the project's config, its workspace file and what package
 * managers write down; nothing else, which the port sees to. Trust level: discovery.
 * Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`.
 */
export async function findPacks(
  port: DiscoveryPort,
  { cwd = process.cwd(), global: withGlobal = false, policy: given }: FindOptions = {},
): Promise<FoundPacks> {
  const project = findProject(port, cwd);
  const policy = given ?? (await readPacksPolicy(port, project.directory));
  const { workspace, problems } = await searchWorkspace(port, project);
  const declared = declaredDependencies(project.manifest);
  const walk = await walkProject(port, project, workspace, declared);
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
    // A broken package matters to the project if it is the project, or if the project asks for it.
    const context = origin === "self" || isDeclared(walked) ? "operation" : "bystander";
    if (isFault(read)) {
      broken.set(location, await describeFault(read, names[0], { context, isSource: isSource(origin) }));
    } else if (Object.hasOwn(read.value, "trailblaze")) {
      packs.push(await describePack(location, read, origin, names, "operation", context));
    }
  }

  const byLocation = [...broken].sort(([one], [other]) => compareText(one, other));
  problems.push(...byLocation.map(([, problem]) => problem));
  for (const file of findPlugAndPlay(port, project, workspace))
    problems.push(createProblem("UnsupportedLayout", { file }));

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
