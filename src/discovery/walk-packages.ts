import { basename, dirname, sep } from "node:path";
import type { DirectoryEntry, DiscoveryPort } from "../files/discovery-port.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import {
  isFault,
  type OtherPackage,
  type PackageFolder,
  type ReadPackage,
  readManifests,
  readUsableManifest,
} from "./manifest.ts";
import { declaredFolders, locate } from "./package-folders.ts";
import { declaredDependencies, dependencyKeys, installedKeys, type Project } from "./project.ts";
import type { Manifest } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/** Folders in which package managers keep packages as targets of links. */
const storeNames: ReadonlySet<string> = new Set([".pnpm", ".store", ".bun", ".deno"]);

/** Matches paths in stores. */
const inStore = /[\\/](?:\.pnpm|\.store|\.bun|\.deno)[\\/].*[\\/]node_modules[\\/]/;

/** The folder of packages that contains a package: the parent of the package or of its scope. */
function folderOf(location: string): string {
  const parent = dirname(location);
  return basename(parent).startsWith("@") ? dirname(parent) : parent;
}

/** Calls `visit` with each entry of a folder of packages and of its scopes that may be a package. */
function visitEntries(
  port: DiscoveryPort,
  folder: string,
  visit: (name: string, path: string, entry: DirectoryEntry) => void,
): void {
  for (const entry of port.listDirectory(folder) ?? []) {
    const { name } = entry;
    const path = `${folder}${sep}${name}`;
    if (!name.startsWith("@")) visit(name, path, entry);
    else {
      const scope = entry.isSymbolicLink() ? port.realPath(path) : path;
      for (const inner of (scope && port.listDirectory(scope)) || [])
        visit(`${name}/${inner.name}`, `${scope}${sep}${inner.name}`, inner);
    }
  }
}

/**
 * Walks what is installed for the project and its workspace: hoisted and nested packages, links, and the stores of isolated
 * installs. Returns the name of each by location: the path below its node_modules, or below the one with a link to it.
 */
export function walkInstalled(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
): Map<string, string> {
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
    // The parent folder is a real path, so only the last segment may be a link.
    const real = port.isLink(nested) ? port.realPath(nested) : nested;
    if (real !== undefined) visitFolder(real);
  }

  function visitFolder(folder: string): void {
    if (listed.has(folder)) return;
    listed.add(folder);
    visitEntries(port, folder, (name, path, entry) => {
      if (entry.name.startsWith(".")) {
        if (storeNames.has(name) && entry.isDirectory()) visitStore(path);
      } else if (entry.isDirectory()) visitPackage(name, path);
      else if (entry.isSymbolicLink()) {
        const target = port.realPath(path);
        if (target !== undefined) pending.push([name, target]);
      }
    });
  }

  /** Visits the packages that are in a store, but not its links, which lead from one of them to another. */
  function visitStore(store: string): void {
    for (const unit of port.listDirectory(store) ?? []) {
      const path = `${store}${sep}${unit.name}`;
      if (unit.name === "node_modules" || !unit.isDirectory()) continue;
      if (ownUnit !== undefined && unit.name.startsWith(ownUnit) && basename(store) === ".deno") continue;
      if (port.exists(`${path}${sep}node_modules`))
        visitEntries(port, `${path}${sep}node_modules`, (name, location, entry) => {
          if (entry.isDirectory() && !entry.name.startsWith(".")) visitPackage(name, location);
        });
      else if (unit.name.startsWith("@")) visitStore(path);
    }
  }

  const roots = [project.directory];
  for (const folder of declaredFolders(port, project, workspace)) {
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
      if (inStore.test(target)) visitFolder(folderOf(target));
    }
  }
  for (const root of roots) found.delete(root);
  return found;
}

/** Reads what is installed besides the packages that were read: `transitive` if a package declares it, or else `undeclared`. */
export function readInstalled(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
  known: readonly ReadPackage[],
): ReadPackage[] {
  const folders = [...walkInstalled(port, project, workspace)].map(
    ([path, name]): PackageFolder => ({ name, origin: "undeclared", paths: [path] }),
  );
  const others: OtherPackage[] = [];
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
  for (const { path, text } of undeclared.size === 0 ? [] : others) {
    const dependencies = text.indexOf('ependencies"');
    if (dependencies >= 0 && mentioned.test(text.slice(dependencies)))
      dropDeclared(readUsableManifest(port, path), installedKeys);
  }
  return packages.map((one) => (undeclared.has(one.name ?? "") ? one : { ...one, origin: "transitive" }));
}

/** The packages at the top level of npm's folder of globally installed packages. */
export async function globalFolders(port: DiscoveryPort): Promise<PackageFolder[]> {
  const folders: PackageFolder[] = [];
  visitEntries(port, await port.globalPackages(), (name, path) => {
    if (isPackageName(name)) folders.push({ name, origin: "global", paths: [path] });
  });
  return folders;
}
