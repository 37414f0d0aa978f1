import { basename, sep } from "node:path";
import type { DirectoryEntry, DiscoveryPort } from "../files/discovery-port.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import {
  isFault,
  type PackageFolder,
  type ReadPackage,
  readManifests,
  readUsableManifest,
} from "./manifest.ts";
import { declaredFolders, locate } from "./package-folders.ts";
import { declaredDependencies, dependencyKeys, installedKeys } from "./project.ts";
import type { Manifest } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/** Folders in which package managers keep packages as targets of links. */
const storeNames: ReadonlySet<string> = new Set([".pnpm", ".store", ".bun", ".deno"]);

/** Matches paths of packages in stores, with the folder of packages that each is in. */
const inStore = /^(.*[\\/](?:\.pnpm|\.store|\.bun|\.deno)[\\/].*[\\/]node_modules)[\\/]/s;

/** What is in a folder of packages and in its scopes, and may be a package. */
function entriesIn(
  port: DiscoveryPort,
  folder: string,
  scope = "",
): [name: string, path: string, entry: DirectoryEntry][] {
  return (port.listDirectory(folder) ?? []).flatMap((entry) => {
    const path = `${folder}${sep}${entry.name}`;
    if (scope !== "" || !entry.name.startsWith("@")) return [[scope + entry.name, path, entry]];
    const real = entry.isSymbolicLink() ? port.realPath(path) : path;
    return real === undefined ? [] : entriesIn(port, real, `${entry.name}/`);
  });
}

/**
 * Walks what is installed for the project and its workspace: hoisted and nested packages, links, and the stores of isolated
 * installs. Returns the name of each by location: the path below its node_modules, or below the one with a link to it.
 */
export function walkInstalled(port: DiscoveryPort, workspace: Workspace): Map<string, string> {
  const { project } = workspace;
  const found = new Map<string, string>();
  /** Real paths of the folders that were listed. */
  const listed = new Set<string>();
  /** Links by name, with real paths. */
  let pending: [name: string, target: string][] = [];
  const ownName = project.manifest?.value.name;
  /** What the entry of Deno's store that stands for the project itself begins with. */
  const ownUnit = typeof ownName === "string" ? `${ownName.replace("/", "+")}@` : undefined;

  function visitPackage(name: string, location: string): void {
    found.set(location, name);
    const nested = `${location}${sep}node_modules`;
    if (!port.exists(nested)) return;
    const real = port.realPath(nested);
    if (real !== undefined) visitFolder(real);
  }

  function visitFolder(folder: string): void {
    if (listed.has(folder)) return;
    listed.add(folder);
    for (const [name, path, entry] of entriesIn(port, folder)) {
      if (entry.name.startsWith(".")) {
        if (storeNames.has(name) && entry.isDirectory()) visitStore(path);
      } else if (entry.isDirectory()) visitPackage(name, path);
      else if (entry.isSymbolicLink()) {
        const target = port.realPath(path);
        if (target !== undefined) pending.push([name, target]);
      }
    }
  }

  /** Visits the packages that are in a store, but not its links, which lead from one of them to another. */
  function visitStore(store: string): void {
    for (const unit of port.listDirectory(store) ?? []) {
      const path = `${store}${sep}${unit.name}`;
      if (unit.name === "node_modules" || !unit.isDirectory()) continue;
      if (ownUnit !== undefined && unit.name.startsWith(ownUnit) && basename(store) === ".deno") continue;
      const packages = `${path}${sep}node_modules`;
      if (unit.name.startsWith("@") && !port.exists(packages)) visitStore(path);
      for (const [name, path, entry] of entriesIn(port, packages))
        if (entry.isDirectory() && !entry.name.startsWith(".")) visitPackage(name, path);
    }
  }

  const roots = [project.directory];
  for (const folder of declaredFolders(port, workspace)) {
    // It may be in a node_modules above, of which nothing else belongs to the project.
    const target = locate(port, folder);
    if (folder.name === undefined) roots.push(...folder.paths);
    else if (target !== undefined) pending.push([folder.name, target]);
  }
  for (const root of roots) visitPackage("", root);
  while (pending.length > 0) {
    // In the order of names, so that the name of a folder with several links does not depend on the order of entries.
    const next = pending.sort(([one], [other]) => (one < other ? -1 : 1));
    pending = [];
    for (const [name, target] of next) {
      if (found.has(target)) continue;
      visitPackage(name, target);
      // In the isolated install of a folder above, a package's dependencies are its siblings.
      const [, siblings] = inStore.exec(target) ?? [];
      if (siblings !== undefined) visitFolder(siblings);
    }
  }
  for (const root of roots) found.delete(root);
  return found;
}

/** Reads what is installed besides the packages that were read: `transitive` if a package declares it, or else `undeclared`. */
export function readInstalled(
  port: DiscoveryPort,
  workspace: Workspace,
  known: readonly ReadPackage[],
): ReadPackage[] {
  const folders = [...walkInstalled(port, workspace)].map(
    ([path, name]): PackageFolder => ({ name, origin: "undeclared", paths: [path] }),
  );
  const others = new Map<string, string>();
  const packages = readManifests(port, folders, known, others);
  const undeclared = new Set(packages.flatMap(({ name }) => name ?? []));
  const dropDeclared = (manifest: Manifest | undefined, keys: readonly string[]) => {
    for (const name of declaredDependencies(manifest, keys)) undeclared.delete(name);
  };
  for (const { name, read } of [...known, ...packages])
    if (!isFault(read)) dropDeclared(read, name === undefined ? dependencyKeys : installedKeys);
  // To parse every package.json would take longer than to read all of them.
  const names = [...undeclared].map((name) => name.replace(/\W/g, String.raw`\$&`));
  const mentioned = new RegExp(`"(?:${names.join("|")})"`);
  for (const [path, text] of undeclared.size === 0 ? [] : others) {
    const dependencies = text.indexOf('ependencies"');
    if (dependencies >= 0 && mentioned.test(text.slice(dependencies)))
      dropDeclared(readUsableManifest(port, path), installedKeys);
  }
  return packages.map((one) => (undeclared.has(one.name ?? "") ? one : { ...one, origin: "transitive" }));
}

export async function globalFolders(port: DiscoveryPort): Promise<PackageFolder[]> {
  return entriesIn(port, await port.globalPackages())
    .filter(([name]) => isPackageName(name))
    .map(([name, path]) => ({ name, origin: "global", paths: [path] }));
}
