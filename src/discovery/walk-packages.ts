import { basename, dirname, sep } from "node:path";
import type { DirectoryEntry, DiscoveryPort } from "../files/discovery-port.ts";

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

interface PackageLink {
  /** The name of the link. */
  name: string;
  /** A real path. */
  target: string;
}

/** Where a walk begins. */
interface WalkStart {
  /** Folders whose node_modules are walked. */
  roots: readonly string[];
  links: readonly PackageLink[];
  /** What the entry of Deno's store that stands for the project itself begins with. */
  ownUnit?: string | undefined;
}

/**
 * Walks installed packages: hoisted and nested ones, links, and the stores of isolated installs. Returns the name of each
 * by location: the path below its node_modules, or below the one with a link to it.
 */
export function walkPackages(port: DiscoveryPort, { roots, links, ownUnit }: WalkStart): Map<string, string> {
  const found = new Map<string, string>();
  /** Real paths of the folders that were listed. */
  const listed = new Set<string>();
  let pending: PackageLink[] = [...links];

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
      if (target !== undefined) pending.push({ name, target });
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

  for (const root of roots) visitPackage(root, "");
  while (pending.length > 0) {
    // In the order of names, so that the name of a folder with several links does not depend on the order of entries.
    const next = pending.sort((one, other) => (one.name < other.name ? -1 : 1));
    pending = [];
    for (const { name, target } of next) {
      if (found.has(target)) continue;
      visitPackage(target, name);
      // In the isolated install of a folder above, a package's dependencies are its siblings.
      if (inStore.test(target)) visitFolder(folderOf(target));
    }
  }
  for (const root of roots) found.delete(root);
  return found;
}
