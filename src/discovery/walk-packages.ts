import { basename, dirname, join, sep } from "node:path";
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
import { declaredFolders } from "./package-folders.ts";
import { declaredDependencies, dependencyKeys, installedKeys, type Project } from "./project.ts";
import type { Manifest } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/** Folders in which package managers keep packages as targets of links. */
const storeNames: ReadonlySet<string> = new Set([".pnpm", ".store", ".bun", ".deno"]);

/** `@acme+jira@1.2.0_peer@3.0.0` as pnpm writes it, and Deno without peers; group 1 is the scope, group 2 the name. */
const storeEntry = /^(?:(@[^+@/]+)\+)?([^+@/]+)@/;

/** Matches paths in stores. */
const inStore = /[\\/](?:\.pnpm|\.store|\.bun|\.deno)[\\/].*[\\/]node_modules[\\/]/;

/** The folder of packages that contains a package: the parent of the package or of its scope. */
function folderOf(location: string): string {
  const parent = dirname(location);
  return basename(parent).startsWith("@") ? dirname(parent) : parent;
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

  function visitPackage(location: string, name: string): void {
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
    visitEntries(folder, true);
  }

  /** Visits the entries of a folder of packages and of its scopes, with or without links and stores. */
  function visitEntries(folder: string, withLinks: boolean): void {
    for (const entry of port.listDirectory(folder) ?? []) {
      const { name } = entry;
      const path = `${folder}${sep}${name}`;
      if (name.startsWith("@")) {
        const scope = entry.isSymbolicLink() ? port.realPath(path) : path;
        for (const inner of (scope && port.listDirectory(scope)) || [])
          visitEntry(inner, `${scope}${sep}${inner.name}`, `${name}/${inner.name}`, withLinks);
      } else if (!name.startsWith(".")) {
        visitEntry(entry, path, name, withLinks);
      } else if (withLinks && storeNames.has(name) && entry.isDirectory()) {
        visitStore(path);
      }
    }
  }

  function visitEntry(entry: DirectoryEntry, path: string, name: string, withLinks: boolean): void {
    if (entry.name.startsWith(".")) return;
    if (entry.isDirectory()) visitPackage(path, name);
    else if (withLinks && entry.isSymbolicLink()) {
      const target = port.realPath(path);
      if (target !== undefined) pending.push([name, target]);
    }
  }

  /**
   * Walks a store. The names of pnpm's entries contain the package's name, which avoids listing most folders. Other
   * entries are listed, without links, which lead to other entries.
   */
  function visitStore(store: string): void {
    if (listed.has(store)) return;
    listed.add(store);
    const isDeno = basename(store) === ".deno";
    for (const listing of port.listDirectory(store) ?? []) {
      const { name: entry } = listing;
      if (entry === "node_modules" || !listing.isDirectory()) continue;
      if (isDeno && ownUnit !== undefined && entry.startsWith(ownUnit)) continue;
      const unit = `${store}${sep}${entry}${sep}node_modules`;
      const [, scope, own = ""] = storeEntry.exec(entry) ?? [];
      const name = scope === undefined ? own : `${scope}/${own}`;
      const location = `${unit}${sep}${scope === undefined ? own : `${scope}${sep}${own}`}`;
      if (own !== "" && port.exists(`${location}${sep}package.json`)) visitPackage(location, name);
      else if (port.exists(unit)) visitEntries(unit, false);
      else if (entry.startsWith("@")) visitStore(`${store}${sep}${entry}`);
    }
  }

  const roots = [project.directory];
  for (const { name, paths } of declaredFolders(port, project, workspace)) {
    if (name === undefined) roots.push(...paths);
    else {
      // It may be in a node_modules above, of which nothing else belongs to the project.
      const path = paths.find((one) => port.exists(join(one, "package.json")));
      const target = path === undefined ? undefined : port.realPath(path);
      if (target !== undefined) pending.push([name, target]);
    }
  }
  for (const root of roots) visitPackage(root, "");
  while (pending.length > 0) {
    // In the order of names, so that the name of a folder with several links does not depend on the order of entries.
    const next = pending.sort(([one], [other]) => (one < other ? -1 : 1));
    pending = [];
    for (const [name, target] of next) {
      if (found.has(target)) continue;
      visitPackage(target, name);
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
  const parent = await port.globalPackages();
  const listNames = (folder: string) => (port.listDirectory(folder) ?? []).map(({ name }) => name);
  const names = listNames(parent).flatMap((name) =>
    name.startsWith("@") ? listNames(join(parent, name)).map((second) => `${name}/${second}`) : name,
  );
  return names.filter(isPackageName).map((name) => ({ name, origin: "global", paths: [join(parent, name)] }));
}
