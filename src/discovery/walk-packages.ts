import { basename, dirname, sep } from "node:path";
import type { DirectoryEntry, DiscoveryPort } from "../files/discovery-port.ts";
import { type ManifestFault, readManifest } from "./manifest.ts";
import type { Manifest } from "./types.ts";

/** A package that may be a pack, or whose package.json is broken. */
export interface WalkedPackage {
  /** Absolute path, symbolic links followed. */
  location: string;
  /** The names of its folder and of the links to it. */
  installedAs: Set<string>;
  read: Manifest | ManifestFault;
}

/** Folders in which package managers keep packages as targets of links. */
const storeNames: ReadonlySet<string> = new Set([".pnpm", ".store", ".bun", ".deno"]);

/** `@acme+jira@1.2.0_peer@3.0.0` as pnpm writes it, and Deno without peers; group 1 is the scope, group 2 the name. */
const storeEntry = /^(?:(@[^+@/]+)\+)?([^+@/]+)@/;

/**
 * Walks installed packages: hoisted and nested ones, links, and the stores of isolated installs. Reads every package.json
 * once, synchronously, and parses only relevant ones, or all on request.
 */
export class PackageWalk {
  readonly #port: DiscoveryPort;
  readonly #which: "always" | "ifRelevant";
  readonly #ownUnit: string | undefined;
  /** By location. */
  readonly found = new Map<string, WalkedPackage>();
  /** Real paths of the node_modules folders that were listed. */
  readonly #listed = new Set<string>();
  readonly #stores = new Set<string>();
  /** Real paths of the targets of followed links. */
  readonly #followed = new Set<string>();
  readonly #links: { name: string; target: string }[] = [];

  /** `ownUnit`: what the entry of Deno's store that stands for the project itself begins with. */
  constructor(port: DiscoveryPort, which: "always" | "ifRelevant" = "ifRelevant", ownUnit?: string) {
    this.#port = port;
    this.#which = which;
    this.#ownUnit = ownUnit;
  }

  /** Walks the node_modules of a package's folder, recursively. */
  addFolder(directory: string): void {
    this.#visitNested(directory);
    this.#followLinks();
  }

  /** Walks a folder of packages, such as npm's global one. */
  addNodeModules(folder: string): void {
    this.#visitNodeModules(folder);
    this.#followLinks();
  }

  /** Visits one package at any location, and the packages below it. */
  addPackage(location: string, installedAs: string): void {
    this.#links.push({ name: installedAs, target: location });
    this.#followLinks();
  }

  #visitNested(directory: string): void {
    const path = `${directory}${sep}node_modules`;
    if (!this.#port.exists(path)) return;
    // The parent folder is a real path, so only the last segment may be a link.
    const real = this.#port.isLink(path) ? this.#port.realPath(path) : path;
    if (real !== undefined) this.#visitNodeModules(real);
  }

  #visitNodeModules(folder: string): void {
    if (this.#listed.has(folder)) return;
    this.#listed.add(folder);
    this.#visitEntries(folder, true);
  }

  /** Visits the entries of a folder of packages and of its scopes, with or without links and stores. */
  #visitEntries(folder: string, withLinks: boolean): void {
    for (const entry of this.#port.listDirectory(folder) ?? []) {
      const { name } = entry;
      const path = `${folder}${sep}${name}`;
      if (name.startsWith("@")) {
        this.#visitScope(name, entry.isSymbolicLink() ? this.#port.realPath(path) : path, withLinks);
      } else if (!name.startsWith(".")) {
        this.#visitEntry(entry, path, name, withLinks);
      } else if (withLinks && storeNames.has(name) && entry.isDirectory()) {
        this.#visitStore(path);
      }
    }
  }

  #visitScope(name: string, path: string | undefined, withLinks: boolean): void {
    for (const entry of (path && this.#port.listDirectory(path)) || []) {
      if (entry.name.startsWith(".")) continue;
      this.#visitEntry(entry, `${path}${sep}${entry.name}`, `${name}/${entry.name}`, withLinks);
    }
  }

  #visitEntry(entry: DirectoryEntry, path: string, installedAs: string, withLinks: boolean): void {
    if (entry.isDirectory()) this.#visitPackage(path, installedAs);
    else if (withLinks && entry.isSymbolicLink()) this.#addLink(installedAs, path);
  }

  #addLink(name: string, path: string): void {
    const target = this.#port.realPath(path);
    if (target !== undefined) this.#links.push({ name, target });
  }

  /** Reads one package and visits those below it. Returns false if there is no package. */
  #visitPackage(location: string, installedAs: string): boolean {
    const read = readManifest(this.#port, location, this.#which);
    if (typeof read === "object") {
      const { installedAs: names = new Set<string>() } = this.found.get(location) ?? {};
      this.found.set(location, { location, installedAs: names.add(installedAs), read });
    }
    this.#visitNested(location);
    return read !== "absent";
  }

  /**
   * Walks a store. The names of pnpm's entries contain the package's name, which avoids listing most folders. Other
   * entries are listed.
   */
  #visitStore(store: string): void {
    if (this.#stores.has(store)) return;
    this.#stores.add(store);
    const isDeno = basename(store) === ".deno";
    for (const listed of this.#port.listDirectory(store) ?? []) {
      const { name: entry } = listed;
      if (entry === "node_modules" || !listed.isDirectory()) continue;
      if (isDeno && this.#ownUnit !== undefined && entry.startsWith(this.#ownUnit)) continue;
      const unit = `${store}${sep}${entry}${sep}node_modules`;
      const [, scope, name] = storeEntry.exec(entry) ?? [];
      if (name !== undefined) {
        const path = scope === undefined ? name : `${scope}${sep}${name}`;
        const installedAs = scope === undefined ? name : `${scope}/${name}`;
        if (this.#visitPackage(`${unit}${sep}${path}`, installedAs)) continue;
      }
      if (this.#port.exists(unit)) {
        // Without links, which lead to other units.
        this.#visitEntries(unit, false);
      } else if (entry.startsWith("@")) {
        this.#visitStore(`${store}${sep}${entry}`);
      }
    }
  }

  /** Visits the targets of links that were not visited yet. */
  #followLinks(): void {
    for (let link = this.#links.pop(); link !== undefined; link = this.#links.pop()) {
      const { name, target } = link;
      if (!this.#followed.has(target) && !this.#wasWalked(target)) {
        this.#followed.add(target);
        this.#visitPackage(target, name);
        // In the isolated install of a folder above, a package's dependencies are its siblings.
        if (otherStore.test(target)) this.#visitNodeModules(folderOf(target));
      }
      this.found.get(target)?.installedAs.add(name);
    }
  }

  #wasWalked(target: string): boolean {
    if (this.#listed.has(folderOf(target))) return true;
    for (const store of this.#stores) if (target.startsWith(`${store}${sep}`)) return true;
    return false;
  }
}

/** Matches paths in stores that were not walked. */
const otherStore = /[\\/](?:\.pnpm|\.store|\.bun|\.deno)[\\/].*[\\/]node_modules[\\/]/;

/** The folder of packages that contains a package: the parent of the package or of its scope. */
function folderOf(location: string): string {
  const parent = dirname(location);
  return basename(parent).startsWith("@") ? dirname(parent) : parent;
}
