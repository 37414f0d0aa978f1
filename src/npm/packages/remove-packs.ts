import { findInConfig, readConfigNames } from "../../discovery/config-names.ts";
import { findPacks } from "../../discovery/find-packs.ts";
import { isFault, readManifest } from "../../discovery/manifest.ts";
import { declaredDependencies } from "../../discovery/project.ts";
import type { DiscoveredPack } from "../../discovery/types.ts";
import { failure } from "../../problems/index.ts";
import { findNearestNames, isPackageName } from "../../qualified-names/index.ts";
import { type ChangeMeans, changePackages } from "./change-packages.ts";
import { type OpenedProject, type OpenMeans, openProject } from "./open-project.ts";

function readName(written: string): string {
  const given: unknown = written;
  if (
    typeof given === "string" &&
    isPackageName(given.includes("/") && !given.startsWith("@") ? `@${given}` : given)
  )
    return given;
  const reason = "what is removed is told by its npm name alone";
  throw failure("UnsupportedSpec", { spec: String(given), reason, isRemoval: true });
}

/** What is removed, or the name it is declared by where its package.json cannot be read. */
export type RemovedPack = DiscoveredPack | { name: string };

type Found = Awaited<ReturnType<typeof findPacks>>;

/** The dependency that a name means, and the pack it is. Throws where there is none to remove. */
async function findDependency(
  found: Found,
  { manifest }: OpenedProject,
  port: OpenMeans["port"],
  written: string,
) {
  const declared = declaredDependencies(manifest);
  const packs = found.packs.map(({ pack }) => pack);
  const name = declared.has(written) ? written : declared.has(`@${written}`) ? `@${written}` : undefined;
  if (name === undefined) {
    const isThere = packs.find((pack) => pack.name === written || pack.qualifiedName === written);
    const nearest = findNearestNames(written, [...declared]);
    const inConfig = findInConfig(await readConfigNames(port, found.project), written);
    if (isThere === undefined)
      throw failure("PackNotInstalled", { name: written, nearest, isRemoval: true, inConfig });
    const reason = `"${isThere.name}" is no dependency of this project: it is here because of others`;
    throw failure("InvalidArguments", { reason });
  }
  const location = found.resolvePackage(name);
  if (location === undefined) {
    throw failure("PackNotInstalled", { name, isDeclared: true, manager: found.manager });
  }
  const pack = packs.find((one) => one.location === location);
  if (pack === undefined) {
    const read = readManifest(port, location, "always");
    if (typeof read !== "string" && !isFault(read)) throw failure("ExtensionNotFound", { name });
  }
  return { name, pack: pack ?? { name } };
}

/**
 * Removes packs with the project's own package manager; gives what they were. Throws `TrailblazeError`:
 * `UnsupportedSpec`, `PackNotInstalled`, `ExtensionNotFound`, `InvalidArguments` (nobody's dependency here),
 * `InstallFailed`, and what discovery throws.
 */
export async function removePacksWith(
  means: ChangeMeans & OpenMeans,
  names: readonly string[],
  cwd: string,
): Promise<RemovedPack[]> {
  const written = [...new Set(names.map(readName))];
  if (written.length === 0) throw failure("InvalidArguments", { reason: "No pack to remove is named" });
  const { port } = means;
  const project = await openProject(means, cwd, `remove ${written.join(", ")}`);
  const found = await findPacks(port, { cwd: project.directory });
  const removed = await Promise.all(written.map((name) => findDependency(found, project, port, name)));
  const packages = [...new Set(removed.map(({ name }) => name))];
  await changePackages(means, project, "remove", packages, async () => {
    const read = readManifest(port, project.directory, "always");
    if (typeof read === "string" || isFault(read)) return "package.json cannot be read any more";
    const declared = declaredDependencies(read);
    const left = packages.find((name) => declared.has(name));
    return left === undefined ? undefined : `package.json still names ${left}`;
  });
  return removed.map(({ pack }) => pack);
}
