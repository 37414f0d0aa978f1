import { matchesAny, type PacksPolicy, readPacksPolicy } from "../config/packs-policy.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import type { Problem } from "../problems/index.ts";
import { describePackages } from "./describe-pack.ts";
import { type PackageFolder, type ReadPackage, readManifests } from "./manifest.ts";
import { declaredFolders, findUnsupportedLayouts, packageFolders, packNamesIn } from "./package-folders.ts";
import { findProject } from "./project.ts";
import { compareText, isNamed, itemNames, rankPacks } from "./rank-packs.ts";
import type { FoundPack } from "./types.ts";
import { findWorkspace, type Workspace } from "./workspace.ts";

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

export interface FoundPacks {
  project: string;
  workspace: Workspace;
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
  const workspace = await findWorkspace(port, project);

  const broken = new Map<string, Problem>();
  const known: ReadPackage[] = [];
  const describe = (packages: readonly ReadPackage[], isTold = true): Promise<FoundPack[]> => {
    known.push(...packages);
    return describePackages(port, packages, isTold ? broken : new Map());
  };
  const take = (folders: readonly PackageFolder[]) => describe(readManifests(port, folders, known));
  const self: PackageFolder = { name: undefined, origin: "self", paths: [project.directory] };
  const packs = await take([self, ...declaredFolders(port, workspace)]);
  const named = policy.transitive.filter((pattern) => !pattern.includes("*")).flatMap(packNamesIn);
  const looked = await take(packageFolders(port, project.directory, named, "transitive"));
  packs.push(...looked.filter((one) => isNamed(policy, one)));
  if (all || needsWalk(policy, packs)) {
    const { readInstalled } = await import("./walk-packages.ts");
    for (const one of await describe(readInstalled(port, workspace, known), all)) {
      if (isNamed(policy, one)) one.pack.origin = "transitive";
      else if (!all) continue;
      packs.push(one);
    }
  }
  if (global) {
    const { globalFolders } = await import("./walk-packages.ts");
    packs.push(...(await take(await globalFolders(port))));
  }

  const ranked = await rankPacks(packs, { port, workspace, policy });
  return {
    project: project.directory,
    workspace,
    policy,
    // Of the packs that a walk finds for the config, only the copies that count are of interest.
    packs: ranked.filter(({ pack }) => all || !pack.shadowed || pack.origin !== "transitive"),
    problems: [
      ...workspace.problems,
      ...[...broken].sort(([one], [other]) => compareText(one, other)).map(([, problem]) => problem),
      ...findUnsupportedLayouts(port, workspace),
    ].sort(compareProblems),
    broken,
  };
}

/** Whether a pattern of `packs.transitive` has a wildcard, or names a pack that was not found. */
function needsWalk({ transitive }: PacksPolicy, packs: readonly FoundPack[]): boolean {
  if (transitive.length === 0) return false;
  const names = packs.flatMap((found) => [found.pack.qualifiedName, ...itemNames(found)]);
  return transitive.some((pattern) => pattern.includes("*") || !matchesAny([pattern], names));
}

/** By what does not depend on messages. */
const compareProblems = (a: Problem, b: Problem) =>
  compareText(a.code, b.code) ||
  compareText(a.pack ?? "", b.pack ?? "") ||
  compareText(a.file ?? "", b.file ?? "");
