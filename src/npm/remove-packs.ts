import { readConfigNames } from "../config/server-entries.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { declaredDependencies } from "../discovery/project.ts";
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

/**
 * Plans to remove packs, or other dependencies, from a project with its package manager. `packages`: their npm names. Nothing
 * changes until `apply`, which calls `complete` and restores everything after a failure, as adding does.
 *
 * Throws `TrailblazeError`: `PackNotInstalled`, `UnsupportedSpec`, `InstallFailed`, `ProjectNotFound`, `InvalidConfig`.
 */
export async function planRemove(names: readonly string[], options: ChangeOptions = {}) {
  const { cwd = process.cwd() } = options;
  const written = [...new Set(names.map(readName))];
  const what = `remove ${written.join(", ")}`;
  const project = await openProject(cwd, what);
  const { found, declared, directory } = project;
  const { kindOf } = await readConfigNames(port, directory);
  const dependencies = written.map((text) => {
    const name = [text, `@${text}`].find((one) => declared.has(one));
    if (name !== undefined) return name;
    const nearest = findNearestNames(text, [...declared]);
    const args = { name: text, nearest, isRemoval: true, inConfig: kindOf(text) };
    throw failure("PackNotInstalled", args);
  });
  const packages = [...new Set(dependencies)];
  const verify = async () => {
    const read = readUsableManifest(port, directory);
    const left = packages.find((name) => read === undefined || declaredDependencies(read).has(name));
    if (left === undefined) return;
    throw failure("InstallFailed", { what, reason: `package.json still declares ${left}` });
  };
  return {
    packages,
    /** Each as discovery found it, or only its name if it is not a pack. */
    removed: packages.map((name): DiscoveredPack | { name: string } => {
      const one = found.packs.find(({ pack }) => pack.name === name && !pack.shadowed);
      return one?.pack ?? { name };
    }),
    apply: (complete?: () => Promise<void>) =>
      changePackages(project, { kind: "remove", packages }, options, { verify, complete }),
  };
}
