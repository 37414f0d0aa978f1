import { join, resolve } from "node:path";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { isFault, type ManifestFault, readManifest } from "../discovery/manifest.ts";
import { findProject } from "../discovery/project.ts";
import type { DiscoveredPack, Manifest, Origin } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import {
  findPackBySubject,
  findPacksFor,
  type InspectionOptions,
  requirePack,
} from "../inspection/inspect.ts";
import { failure, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/index.ts";

/** A package to validate. */
export interface Target {
  location: string;
  read: Manifest | ManifestFault | undefined;
  origin: Origin;
  /** The name it is installed under. */
  installedAs?: string | undefined;
  /** Without the field, a folder is an invalid pack, but an installed package is not a pack. */
  byName?: boolean;
  findContext: () => Promise<FoundPacks>;
}

/** True for paths that cannot be names; `acme/jira` may also be the name `@acme/jira`. */
function isPath(target: string): boolean {
  return /^[./\\]|^[A-Za-z]:[/\\]/.test(target) || !(isPackageName(target) || isPackageName(`@${target}`));
}

/** Finds the package of a folder, a name or a pack. Throws `TrailblazeError` if there is none. */
export async function findTarget(
  port: InspectionPort,
  target: string | DiscoveredPack,
  { cwd: explicitCwd, global = false }: InspectionOptions,
): Promise<Target> {
  const cwd = explicitCwd ?? process.cwd();
  const findContextIn = (directory: string) => findPacks(port, { cwd: directory, global });
  if (typeof target !== "string") {
    if (typeof target?.location !== "string")
      throw failure("InvalidArguments", { reason: "The target must be a folder, a name or a pack" });
    const { location, origin, name } = target;
    const isSource = origin === "self" || origin === "workspace";
    const findContext = () => findContextIn(origin === "self" ? location : (explicitCwd ?? location));
    const read = readManifest(port, location);
    return { location, read, origin, installedAs: isSource ? undefined : name, findContext };
  }
  const folder = resolve(cwd, target);
  const isProject = target === ".";
  const isFolder = port.exists(join(folder, "package.json"));
  if (isProject || isFolder || isPath(target)) {
    // Only "." refers to the enclosing project; other folders must contain the package.
    const project = isProject ? findProject(port, folder) : undefined;
    const location = project?.directory ?? port.realPath(folder);
    if (location === undefined)
      throw failure("ProjectNotFound", { directory: folder, exists: false }, {}, { isMissingTarget: true });
    const read = project ? (project.manifest ?? project.fault) : readManifest(port, location);
    return { location, read, origin: "self", findContext: () => findContextIn(location) };
  }
  const found = await findPacksFor(port, target, { cwd, global });
  if (findPackBySubject(found, target) === undefined && port.exists(folder))
    throw failure("ProjectNotFound", { directory: folder, exists: true });
  const named = await requirePack(port, found, target);
  const { location, origin, name } = named.pack;
  const findContext = async () => found;
  return { location, read: named.manifest, origin, installedAs: name, byName: true, findContext };
}

/**
 * Returns the absolute paths of the packs among the members of the workspace that `cwd` is in, and the problems of finding
 * them. A member whose package.json is invalid counts as a pack. Throws `TrailblazeError`: `NoExtension` without any pack,
 * and `ProjectNotFound`.
 */
export async function findWorkspacePacks(cwd: string): Promise<{ folders: string[]; problems: Problem[] }> {
  const port = createNodeDiscoveryPort();
  const project = findProject(port, cwd);
  const { root, members, problems } = await findWorkspace(port, project);
  const folders = members.filter((folder) => {
    const read = readManifest(port, folder);
    return read !== undefined && (isFault(read) || Object.hasOwn(read.value, "trailblaze"));
  });
  if (folders.length === 0) throw failure("NoExtension", { name: root, isWorkspace: true });
  return { folders, problems };
}
