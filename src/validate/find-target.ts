import { join, resolve } from "node:path";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { isFault, type ReadPackage, readManifest } from "../discovery/manifest.ts";
import { findProject } from "../discovery/project.ts";
import type { DiscoveredPack, Origin } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { discoveryPort } from "../files/node-discovery-port.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import {
  findOwner,
  findPackBySubject,
  findPacksFor,
  type InspectionOptions,
  requirePack,
} from "../inspection/inspect.ts";
import { failure, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { isQualifiedName } from "../qualified-names/qualified-name.ts";

export type Target = ReadPackage & { findContext: () => Promise<FoundPacks> };

/** `acme/jira` may be the name `@acme/jira`. */
const mayBePack = (target: string) => isPackageName(target) || isPackageName(`@${target}`);

/** True for paths that can be neither names of packs nor of items. */
const isPath = (target: string) =>
  /^[./\\]|^[A-Za-z]:[/\\]/.test(target) || !(mayBePack(target) || isQualifiedName(target));

/** Finds the package of a folder, a name or a pack. Throws `TrailblazeError` if there is none. */
export async function findTarget(
  target: string | DiscoveredPack,
  { cwd: explicitCwd, global = false }: InspectionOptions,
): Promise<Target> {
  const cwd = explicitCwd ?? process.cwd();
  const missing = (directory: string, exists: boolean) => {
    const args = { directory, exists, ...(exists && { isTarget: true }) };
    return failure("ProjectNotFound", args, {}, { isMissingTarget: !exists });
  };
  const readIn = (location: string, origin: Origin, contextCwd: string, name?: string): Target => {
    const read = readManifest(port, location);
    if (read === undefined) throw missing(location, true);
    return { name, location, read, origin, findContext: () => findPacks(port, { cwd: contextCwd, global }) };
  };
  if (typeof target !== "string") {
    if (typeof target?.location !== "string")
      throw failure("InvalidArguments", { reason: "The target must be a folder, a name or a pack" });
    const { location, origin, name } = target;
    const isSource = origin === "self" || origin === "workspace";
    const contextCwd = origin === "self" ? location : (explicitCwd ?? location);
    return readIn(location, origin, contextCwd, isSource ? undefined : name);
  }
  const folder = resolve(cwd, target);
  const isProject = target === ".";
  if (isProject || isPath(target) || port.exists(join(folder, "package.json"))) {
    // Only "." refers to the enclosing project; other folders must contain the package.
    const location = isProject ? findProject(port, folder).directory : port.realPath(folder);
    if (location === undefined) throw missing(folder, false);
    return readIn(location, "self", location);
  }
  const found = await findPacksFor(port, target, { cwd, global });
  const isKnown = findPackBySubject(found, target) !== undefined || findOwner(found, target) !== undefined;
  const isFolder = port.exists(folder);
  if (!isKnown && (isFolder || !mayBePack(target))) throw missing(folder, isFolder);
  const named = await requirePack(port, found, target);
  return { ...named.pack, read: named.manifest, findContext: async () => found };
}

/**
 * Returns the absolute paths of the packs among the members of the workspace that `cwd` is in, and the problems of finding
 * them. A member whose package.json is invalid counts as a pack. Throws `TrailblazeError`: `NoExtension` without any pack,
 * and `ProjectNotFound`.
 */
export async function findWorkspacePacks(cwd: string): Promise<{ folders: string[]; problems: Problem[] }> {
  const project = findProject(discoveryPort, cwd);
  const { root, members, problems } = await findWorkspace(discoveryPort, project);
  const folders = members.filter((folder) => {
    const read = readManifest(discoveryPort, folder);
    return read !== undefined && (isFault(read) || Object.hasOwn(read.value, "trailblaze"));
  });
  if (folders.length === 0) throw failure("NoExtension", { name: root, isWorkspace: true });
  return { folders, problems };
}
