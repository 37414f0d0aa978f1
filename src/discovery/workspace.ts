import { join } from "node:path";
import { type DiscoveryPort, workspaceLimits } from "../files/discovery-port.ts";
import type { Problem } from "../problems/index.ts";
import { readUsableManifest } from "./manifest.ts";
import { ancestorsOf, type Project } from "./project.ts";
import type { Manifest } from "./types.ts";

/** How many folders a search may still read; it reduces the number. */
export interface WorkspaceBudget {
  folders: number;
}

export interface Workspace {
  /** Absolute path of the workspace's root. */
  root: string;
  /** The root's package.json, if it can be used. */
  manifest: Manifest | undefined;
  /** Absolute paths of its packages without the root, sorted. */
  members: string[];
}

/** Whether a folder above a project has files of a workspace's root, of which none belongs to another user. */
function mayBeRoot(port: DiscoveryPort, directory: string, project: string): boolean {
  const files = ["package.json", "pnpm-workspace.yaml"]
    .map((name) => join(directory, name))
    .filter(port.exists);
  return files.length > 0 && files.every((file) => port.isTrusted(file, join(project, "package.json")));
}

/**
 * Finds the workspace that a project is the root or a member of, if any, with a problem for each reason why packages may
 * be missing. A root above the project whose files belong to another user does not count: it would add its packs.
 */
export async function searchWorkspace(
  port: DiscoveryPort,
  { directory: project, manifest }: Project,
): Promise<{ workspace: Workspace | undefined; problems: Problem[] }> {
  const problems: Problem[] = [];
  const budget: WorkspaceBudget = { folders: workspaceLimits.folders };
  for (const root of ancestorsOf(project)) {
    if (root !== project && !mayBeRoot(port, root, project)) continue;
    const own = root === project ? manifest : readUsableManifest(port, root);
    if (own?.value.workspaces === undefined && !port.exists(join(root, "pnpm-workspace.yaml"))) continue;
    const { findMembers } = await import("./workspace-members.ts");
    const found = await findMembers(port, { root, manifest: own, project }, budget);
    problems.push(...found.problems);
    const { members } = found;
    if (members !== undefined && (root === project || members.includes(project)))
      return { workspace: { root, manifest: own, members }, problems };
    if (budget.folders <= 0) break;
  }
  return { workspace: undefined, problems };
}

/** Like `searchWorkspace`, but without problems. */
export async function findWorkspace(port: DiscoveryPort, project: Project): Promise<Workspace | undefined> {
  return (await searchWorkspace(port, project)).workspace;
}
