import { matchesAny, type PacksPolicy, readPacksPolicy } from "../config/packs-policy.ts";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { describePack } from "./describe-pack.ts";
import { describeFault, isFault, type PackageFolder, type ReadPackage, readManifests } from "./manifest.ts";
import {
  declaredFolders,
  findDenoCache,
  findPlugAndPlay,
  globalFolders,
  installedFolders,
  packageFolders,
  packNamesIn,
  resolveFrom,
} from "./package-folders.ts";
import { dependencyKeys, findProject, installedKeys, type Project } from "./project.ts";
import { compareText, isNamed, itemNames, rankPacks } from "./rank-packs.ts";
import type { FoundPack } from "./types.ts";
import { searchWorkspace, type Workspace } from "./workspace.ts";

/** Where packs are looked for. */
export interface DiscoveryOptions {
  /** A folder of the project; default: the working folder of the process. */
  cwd?: string;
  /** Also list globally installed packs: the top level of npm's global folder. */
  global?: boolean;
  /** Also list packs that the project does not declare: walks every node_modules of the project and its workspace. */
  all?: boolean;
}

export interface FindOptions extends DiscoveryOptions {
  /** Which packs are allowed; default: the policy in the project's config, which is read only in this case. */
  policy?: PacksPolicy | undefined;
}

/** The results of discovery, with details for the levels above it. */
export interface FoundPacks {
  project: string;
  workspace: Workspace | undefined;
  policy: PacksPolicy;
  /** Sorted by name, version and location. `lookUpPack` adds to it. */
  packs: FoundPack[];
  problems: Problem[];
  /** The problem of each package whose package.json cannot be used, by location. */
  broken: Map<string, Problem>;
}

/**
 * Finds packs, as `discoverPacks` describes: the folders where packages may be, their package.json files, the packs that
 * these describe, and which of them count. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`.
 */
export async function findPacks(port: DiscoveryPort, options: FindOptions = {}): Promise<FoundPacks> {
  const { cwd = process.cwd(), global = false, all = false } = options;
  const project = findProject(port, cwd);
  const policy = options.policy ?? (await readPacksPolicy(port, project.directory));
  const { workspace, problems } = await searchWorkspace(port, project);

  const declared = readManifests(port, declaredFolders(port, project, workspace));
  const named = readManifests(port, namedFolders(port, project, policy, declared));
  const described = await describePackages([...declared, ...named]);
  const packs = described.packs.filter(
    (found) => found.pack.origin !== "transitive" || isNamed(policy, found),
  );
  const { broken } = described;
  if (all || needsWalk(policy, packs)) {
    const walked = await walk(port, project, workspace, [...declared, ...named], policy);
    packs.push(...walked.packs.filter((found) => all || isNamed(policy, found)));
    if (all) for (const [location, problem] of walked.broken) broken.set(location, problem);
  }
  if (global) {
    const known = new Set(packs.map(({ pack }) => pack.location));
    const read = readManifests(port, await globalFolders(port));
    const installed = await describePackages(read.filter(({ location }) => !known.has(location)));
    packs.push(...installed.packs);
    for (const [location, problem] of installed.broken) broken.set(location, problem);
  }

  const ranked = await rankPacks(packs, {
    policy,
    resolve: (name) => resolveFrom(port, project.directory, name),
    findManager: async () => {
      const { managerIn } = await import("./project-manager.ts");
      return managerIn(port, { project: project.directory, workspace });
    },
  });
  // Of the packs that a walk finds for the config, only the copies that count are of interest.
  const isListed = ({ pack }: FoundPack) => all || !pack.shadowed || pack.origin !== "transitive";
  return {
    project: project.directory,
    workspace,
    policy,
    packs: ranked.filter(isListed),
    problems: orderProblems([
      ...problems,
      ...[...broken].sort(([one], [other]) => compareText(one, other)).map(([, problem]) => problem),
      ...findUnsupportedLayouts(port, project, workspace),
    ]),
    broken,
  };
}

/** Where Node would find the packs that `packs.transitive` names without wildcards. */
function namedFolders(
  port: DiscoveryPort,
  { directory }: Project,
  { transitive }: PacksPolicy,
  declared: readonly ReadPackage[],
): PackageFolder[] {
  const known = new Set(declared.map(({ name }) => name));
  const names = transitive.filter((pattern) => !pattern.includes("*")).flatMap(packNamesIn);
  return packageFolders(
    port,
    directory,
    names.filter((name) => !known.has(name)),
    "transitive",
  );
}

/** Whether a pattern of `packs.transitive` has a wildcard, or names a pack that was not found. */
function needsWalk({ transitive }: PacksPolicy, packs: readonly FoundPack[]): boolean {
  if (transitive.length === 0) return false;
  const names = packs.flatMap((found) => [found.pack.qualifiedName, ...itemNames(found)]);
  return transitive.some((pattern) => pattern.includes("*") || !matchesAny([pattern], names));
}

/** The packages that may be packs: described, or with the problem of their package.json. */
async function describePackages(packages: readonly ReadPackage[]) {
  const packs: FoundPack[] = [];
  const broken = new Map<string, Problem>();
  for (const { read, ...source } of packages) {
    const { location, name, origin } = source;
    // A broken package is an error if it is the project or one of its declared dependencies.
    const context = origin === "self" || origin === "direct" ? "operation" : "bystander";
    if (isFault(read)) {
      const isSource = origin === "self" || origin === "workspace";
      broken.set(location, await describeFault(read, name, { context, isSource }));
    } else if (Object.hasOwn(read.value, "trailblaze")) {
      packs.push(await describePack({ ...source, manifest: read }, "operation", context));
    }
  }
  return { packs, broken };
}

/** The installed packages besides `known` ones, of which packs are `transitive` or `undeclared`. */
async function walk(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
  known: readonly ReadPackage[],
  policy: PacksPolicy,
) {
  const locations = new Set(known.map(({ location }) => location));
  const folders = installedFolders(port, project, workspace);
  const texts: string[] = [];
  const isNew = ({ paths: [path = ""] }: PackageFolder) => !locations.has(path);
  const read = readManifests(port, folders.filter(isNew), texts);
  const { packs, broken } = await describePackages(read);
  const developed: string[] = [];
  for (const { name, read: manifest } of [...known, ...read])
    if (!isFault(manifest)) (name === undefined ? developed : texts).push(manifest.text);
  for (const found of packs) {
    const { name } = found.pack;
    const isDeclared =
      isNamed(policy, found) ||
      developed.some((text) => declares(text, name, dependencyKeys)) ||
      texts.some((text) => declares(text, name, installedKeys));
    if (isDeclared) found.pack.origin = "transitive";
  }
  return { packs, broken };
}

/** Whether the text of a package.json declares a dependency. Parses only texts that contain the name. */
function declares(text: string, name: string, keys: readonly string[]): boolean {
  if (!text.includes(JSON.stringify(name))) return false;
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return (
      isRecord(manifest) && keys.some((key) => isRecord(manifest[key]) && Object.hasOwn(manifest[key], name))
    );
  } catch {
    return false;
  }
}

function findUnsupportedLayouts(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
): Problem[] {
  const files = {
    pnp: findPlugAndPlay(port, project, workspace),
    deno: findDenoCache(port, project, workspace),
  };
  return (["pnp", "deno"] as const).flatMap((layout) => {
    const file = files[layout];
    return file === undefined ? [] : createProblem("UnsupportedLayout", { layout, file });
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
