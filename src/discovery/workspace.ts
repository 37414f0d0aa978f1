import { join } from "node:path";
import { type DiscoveryPort, workspaceLimits } from "../files/discovery-port.ts";
import type { Problem } from "../problems/index.ts";
import { readUsableManifest } from "./manifest.ts";
import { ancestorsOf, type Project } from "./project.ts";
import type { Manifest } from "./types.ts";

/** The workspace that a project is the root or a member of. A project without one is the root of its own. */
export interface Workspace {
  project: Project;
  /** Whether the root lists members. */
  isDeclared: boolean;
  /** Absolute path. */
  root: string;
  /** The root's package.json, if it can be used. */
  manifest: Manifest | undefined;
  /** Absolute paths of its packages without the root, sorted. */
  members: string[];
  /** What the root's pnpm-workspace.yaml permits packages; `null` if it cannot be read. */
  permissions: Readonly<Record<string, unknown>> | null;
  /** Why packages may be missing. */
  problems: Problem[];
}

/** Whether a folder above a project has files of a workspace's root, of which none belongs to another user. */
function mayBeRoot(port: DiscoveryPort, directory: string, project: string): boolean {
  const files = ["package.json", "pnpm-workspace.yaml"]
    .map((name) => join(directory, name))
    .filter(port.exists);
  return files.length > 0 && files.every((file) => port.isTrusted(file, join(project, "package.json")));
}

/** A root above the project whose files belong to another user does not count: it would add its packs. */
export async function findWorkspace(port: DiscoveryPort, project: Project): Promise<Workspace> {
  const { directory, manifest } = project;
  const problems: Problem[] = [];
  const budget = { folders: workspaceLimits.folders };
  let permissions: Workspace["permissions"] = {};
  for (const root of ancestorsOf(directory)) {
    if (root !== directory && !mayBeRoot(port, root, directory)) continue;
    const own = root === directory ? manifest : readUsableManifest(port, root);
    if (own?.value.workspaces === undefined && !port.exists(join(root, "pnpm-workspace.yaml"))) continue;
    const { findMembers } = await import("./workspace-members.ts");
    const found = await findMembers(port, { root, manifest: own, project: directory }, budget);
    problems.push(...found.problems);
    const { members } = found;
    if (root === directory || members?.includes(directory)) permissions = found.permissions;
    if (members !== undefined && (root === directory || members.includes(directory)))
      return { project, isDeclared: true, root, manifest: own, members, permissions, problems };
    if (budget.folders <= 0) break;
  }
  return { project, isDeclared: false, root: directory, manifest, members: [], permissions, problems };
}
