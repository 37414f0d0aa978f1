import { isFault, readManifest } from "../discovery/manifest.ts";
import { findProject } from "../discovery/project.ts";
import { searchWorkspace } from "../discovery/workspace.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { failure, type Problem } from "../problems/index.ts";

/**
 * Returns the absolute paths of the packs among the members of the workspace that `cwd` is in, and the problems of finding
 * them. A member whose package.json is invalid counts as a pack. Throws `TrailblazeError`: `NoExtension` without any pack,
 * and `ProjectNotFound`.
 */
export async function findWorkspacePacks(cwd: string): Promise<{ folders: string[]; problems: Problem[] }> {
  const port = createNodeDiscoveryPort();
  const project = findProject(port, cwd);
  const { workspace, problems } = await searchWorkspace(port, project);
  const folders = (workspace?.members ?? []).filter((folder) => {
    const read = readManifest(port, folder);
    return read !== undefined && (isFault(read) || Object.hasOwn(read.value, "trailblaze"));
  });
  if (folders.length === 0)
    throw failure("NoExtension", { name: workspace?.root ?? project.directory, isWorkspace: true });
  return { folders, problems };
}
