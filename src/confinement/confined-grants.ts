import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isRecord, parseJson } from "../data/parse-json.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { isPackageName } from "../qualified-names/item-name.ts";

/** More packages than any pack brings along; beyond, links are not followed any more. */
const maximumPackages = 2000;
/** Files that are looked for and are not there. */
const maximumAbsent = 500;
/** For all granted paths, which stand on one command line. Windows takes no longer one. */
const maximumCharacters = process.platform === "win32" ? 24_000 : 512 << 10;

/** What code of a pack may read. */
export interface ReadGrants {
  /** Folders of the pack and of its dependencies. */
  readable: string[];
  /** Files for which Node looks in vain before it finds some of them. */
  absent: string[];
  /** Folders that hold all of it, and little else: for the view of a file system. */
  visible: string[];
}

/** True for a path in the folder, and for the folder itself. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Where Node looks for what code in the folder imports, nearest first, whether it is there or not. */
function* nodeModulesAbove(directory: string): Iterable<string> {
  for (let at = directory; ; at = dirname(at)) {
    if (basename(at) !== "node_modules") yield join(at, "node_modules");
    if (at === dirname(at)) return;
  }
}

/** A set of folders and files that may be read. What lies in a folder of the set is in it. */
class Grants {
  readonly #paths = new Set<string>();

  covers(path: string): boolean {
    for (let at = path; ; at = dirname(at)) {
      if (this.#paths.has(at)) return true;
      if (at === dirname(at)) return false;
    }
  }

  add(path: string): void {
    // To the permission model a `*` stands for any ending, wherever it is.
    if (!path.includes("*") && !this.covers(path)) this.#paths.add(path);
  }

  /** The folders of packages that serve code in the folder, also as they are when links are followed. */
  addNodeModules(directory: string): void {
    for (const folder of nodeModulesAbove(directory)) {
      const real = realPath(folder);
      // As a link it may lead to another folder of packages, not to anything.
      if (real === undefined || basename(real) !== "node_modules") continue;
      this.add(folder);
      this.add(real);
    }
  }

  /** In the order of adding, without what a later one covers. */
  list(): string[] {
    return [...this.#paths].filter((path) => {
      this.#paths.delete(path);
      const isCovered = this.covers(path);
      if (!isCovered) this.#paths.add(path);
      return !isCovered;
    });
  }
}

const groups = ["dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta"];

function namesIn(manifest: Record<string, unknown>, keys: readonly string[]): string[] {
  const names = keys.flatMap((key) => (isRecord(manifest[key]) ? Object.keys(manifest[key]) : []));
  return [...new Set(names)].filter(isPackageName);
}

/** Where code in a folder finds a package, and where Node looks for it before. */
interface Resolution {
  /** As code names it; a link where the package lies elsewhere. */
  path?: string;
  /** With links followed. */
  real?: string;
  absent: string[];
}

/** Makes a function that tells which package code in a folder gets by a name. */
function createResolver(): (directory: string, name: string) => Resolution {
  const known = new Map<string, string | undefined>();
  const follow = (path: string): string | undefined => {
    if (!known.has(path)) known.set(path, realPath(path));
    return known.get(path);
  };
  return (directory, name) => {
    const absent: string[] = [];
    for (const folder of nodeModulesAbove(directory)) {
      if (follow(folder) === undefined) continue;
      const path = join(folder, name);
      const real = follow(path);
      if (real !== undefined) return { path, real, absent };
      absent.push(join(path, "package.json"));
    }
    return { absent };
  };
}

/** Folders in which package managers keep each package in a unit of its own, with links to what it depends on. */
const stores: ReadonlySet<string> = new Set([".pnpm", ".store", ".bun"]);

/** The folder of a store's unit that holds a package and those links; the package's own folder elsewhere. */
function unitOf(location: string): string {
  const parent = dirname(location);
  const folder = basename(parent).startsWith("@") ? dirname(parent) : parent;
  const isUnit = basename(folder) === "node_modules" && stores.has(basename(dirname(dirname(folder))));
  return isUnit ? folder : location;
}

/** Takes as many paths as there is room for, in their order. */
function createRoom(): (path: string) => boolean {
  let left = maximumCharacters;
  return (path) => {
    left -= path.length + "--allow-fs-read=".length + 3;
    return left >= 0;
  };
}

/**
 * What code of a pack may read: its own folder, and the packages that its declared dependencies, and theirs, lead to,
 * nearest first; not what lies beside them. `root` is a real path.
 */
export function findReadGrants(root: string): ReadGrants {
  const port = createNodeDiscoveryPort();
  const resolvePackage = createResolver();
  const readable = new Grants();
  const visible = new Grants();
  const absent = new Set<string>();
  readable.add(root);
  visible.add(root);
  visible.addNodeModules(root);

  const readManifest = (directory: string): Record<string, unknown> | undefined => {
    const read = port.readManifest(directory, "always");
    if (read.state !== "read") return undefined;
    try {
      const { value } = parseJson(read.bytes);
      return isRecord(value) ? value : undefined;
    } catch {
      return undefined;
    }
  };

  /** Packages by their real path, with what they are called by where they are needed. */
  const packages = new Map<string, string[]>([[root, []]]);
  for (const [directory, paths] of packages) {
    const manifest = readManifest(directory);
    if (directory !== root) {
      const isVisible = visible.covers(directory);
      // A link that is a pack's own making could lead to anything; a package it has to be.
      if (!isVisible && typeof manifest?.name !== "string") continue;
      if (!isVisible) {
        visible.add(directory);
        visible.addNodeModules(directory);
      }
      readable.add(unitOf(directory));
    }
    for (const path of paths) readable.add(path);
    for (const name of namesIn(
      manifest ?? {},
      directory === root ? [...groups, "devDependencies"] : groups,
    )) {
      const { path, real, absent: before } = resolvePackage(directory, name);
      for (const one of before) if (absent.size < maximumAbsent && !one.includes("*")) absent.add(one);
      // A folder around the pack would show what lies beside it.
      if (path === undefined || real === undefined || isInside(real, root)) continue;
      const known = packages.get(real);
      if (known === undefined && packages.size < maximumPackages) packages.set(real, [path]);
      else if (known?.includes(path) === false) {
        known.push(path);
        // Those of a package that was gone through are not looked at again.
        if (readable.covers(real)) readable.add(path);
      }
    }
  }
  const hasRoom = createRoom();
  return {
    readable: readable.list().filter(hasRoom),
    absent: [...absent].filter((path) => !readable.covers(path) && hasRoom(path)),
    visible: visible.list(),
  };
}
