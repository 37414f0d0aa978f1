import { findInConfig, readConfigNames } from "../config/server-entries.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { discoveryPort as port } from "../files/node-discovery-port.ts";
import { failure } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { type ChangeOptions, changePackages, openProject } from "./managers/change-packages.ts";

function readName(name: string): string {
  if (isPackageName(name.includes("/") && !name.startsWith("@") ? `@${name}` : name)) return name;
  const reason = "it is not an npm name without a version";
  throw failure("UnsupportedSpec", { spec: name, reason, isRemoval: true });
}

export interface RemoveOptions extends ChangeOptions {
  /** Whether a package that is not a pack may be removed, because the config runs it as a server. Default: none. */
  isServer?: (name: string) => boolean;
}

/**
 * Plans to remove packs from a project with its package manager. `packages`: their npm names. Nothing changes until `apply`, which
 * calls `complete` and restores everything after a failure, as adding does.
 *
 * Throws `TrailblazeError`: `PackNotInstalled`, `ExtensionNotFound`, `UnsupportedSpec`, `InvalidArguments` (a transitive
 * dependency), `InstallFailed`, `ProjectNotFound`, `InvalidConfig`.
 */
export async function planRemove(names: readonly string[], options: RemoveOptions = {}) {
  const { cwd = process.cwd(), isServer = () => false } = options;
  const written = [...new Set(names.map(readName))];
  const what = `remove ${written.join(", ")}`;
  const project = await openProject(cwd, what);
  const { found, declared } = project;
  for (const name of written) await lookUpSubject(port, found, name);
  const packs = found.packs.map(({ pack }) => pack);
  /** The dependency and its pack as discovery found it, or only its name if its package.json could not be read. */
  const findDependency = async (text: string) => {
    const name = [text, `@${text}`].find((one) => declared.has(one));
    if (name === undefined) {
      const nearest = findNearestNames(text, [...declared]);
      const inConfig = findInConfig(await readConfigNames(port, found.project), text);
      const installed = packs.find((pack) => pack.name === text || pack.qualifiedName === text);
      if (installed === undefined)
        throw failure("PackNotInstalled", { name: text, nearest, isRemoval: true, inConfig });
      const reason = `"${installed.name}" is not a dependency of this project and cannot be removed directly`;
      throw failure("InvalidArguments", { reason });
    }
    const location = resolveFrom(port, found.project, name);
    if (location === undefined)
      throw failure("PackNotInstalled", {
        name,
        isDeclared: true,
        manager: managerIn(port, found.workspace),
      });
    const pack = packs.find((one) => one.location === location);
    if (pack === undefined && !isServer(name) && readUsableManifest(port, location) !== undefined)
      throw failure("ExtensionNotFound", { name });
    return { name, pack: pack ?? { name } };
  };
  const dependencies = await Promise.all(written.map(findDependency));
  const packages = [...new Set(dependencies.map(({ name }) => name))];
  const verify = async () => {
    const read = readUsableManifest(port, project.directory);
    const left = packages.find((name) => read === undefined || declaredDependencies(read).has(name));
    if (left === undefined) return;
    throw failure("InstallFailed", { what, reason: `package.json still declares ${left}` });
  };
  return {
    packages,
    removed: dependencies.map(({ pack }): DiscoveredPack | { name: string } => pack),
    apply: (complete?: () => Promise<void>) =>
      changePackages(project, { kind: "remove", packages }, options, { verify, complete }),
  };
}
