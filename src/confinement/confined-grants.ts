import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isRecord, parseJson } from "../data/parse-json.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { isPackageName } from "../qualified-names/item-name.ts";

/** The limit of packages; beyond it, links are not followed. */
const maximumPackages = 2000;
/** The limit of missing files that are granted. */
const maximumAbsent = 500;
/** The limit for all granted paths, which share one command line. Windows has a shorter one. */
const maximumCharacters = process.platform === "win32" ? 24_000 : 512 << 10;

/** What a pack's code may read. */
export interface ReadGrants {
  /** Folders of the pack and of its dependencies. */
  readable: string[];
  /** Missing files that Node looks for before it finds some of them. */
  absent: string[];
  /** Folders that contain all of it and little else, for a restricted file system. */
  visible: string[];
}

/** True for a path in the folder and for the folder itself. */
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

/** The folders in which Node looks for imports of code in the folder, nearest first, existing or not. */
function* nodeModulesAbove(directory: string): Iterable<string> {
  for (let at = directory; ; at = dirname(at)) {
    if (basename(at) !== "node_modules") yield join(at, "node_modules");
    if (at === dirname(at)) return;
  }
}

/** A set of readable folders and files. A folder covers everything in it. */
class Grants {
  readonly #paths = new Set<string>();

  covers(path: string): boolean {
    for (let at = path; ; at = dirname(at)) {
      if (this.#paths.has(at)) return true;
      if (at === dirname(at)) return false;
    }
  }

  add(path: string): void {
    // The permission model treats `*` as a wildcard, wherever it is.
    if (!path.includes("*") && !this.covers(path)) this.#paths.add(path);
  }

  /** Adds the node_modules folders for code in the folder, and their real paths. */
  addNodeModules(directory: string): void {
    for (const folder of nodeModulesAbove(directory)) {
      const real = realPath(folder);
      // A link may lead to another node_modules, but nowhere else.
      if (real === undefined || basename(real) !== "node_modules") continue;
      this.add(folder);
      this.add(real);
    }
  }

  /** In the order of adding, without paths that a later one covers. */
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

/** Where code in a folder finds a package, and where Node looks before. */
interface Resolution {
  /** The path that Node uses; a link if the package is elsewhere. */
  path?: string;
  /** The real path. */
  real?: string;
  absent: string[];
}

/** Creates a function that resolves a package's name for code in a folder. */
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

/** Folders in which package managers keep each package in its own unit, with links to its dependencies. */
const stores: ReadonlySet<string> = new Set([".pnpm", ".store", ".bun", ".deno"]);

/** The unit's folder with a package and these links; elsewhere the package's own folder. */
function unitOf(location: string): string {
  const parent = dirname(location);
  const folder = basename(parent).startsWith("@") ? dirname(parent) : parent;
  const isUnit = basename(folder) === "node_modules" && stores.has(basename(dirname(dirname(folder))));
  return isUnit ? folder : location;
}

/** Returns a function that accepts paths until the limit of characters is reached. */
function createRoom(): (path: string) => boolean {
  let left = maximumCharacters;
  return (path) => {
    left -= path.length + "--allow-fs-read=".length + 3;
    return left >= 0;
  };
}

/**
 * The files that a pack's code may read: its own folder, and the packages of its declared dependencies and of theirs,
 * nearest first; no neighboring files. `root` is a real path.
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

  /** Packages by their real path, with the names by which they are imported. */
  const packages = new Map<string, string[]>([[root, []]]);
  for (const [directory, paths] of packages) {
    const manifest = readManifest(directory);
    if (directory !== root) {
      const isVisible = visible.covers(directory);
      // A pack could create a link to anything, so the target must be a package.
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
      // A folder around the pack would reveal its neighbors.
      if (path === undefined || real === undefined || isInside(real, root)) continue;
      const known = packages.get(real);
      if (known === undefined && packages.size < maximumPackages) packages.set(real, [path]);
      else if (known?.includes(path) === false) {
        known.push(path);
        // A package that was already searched is not searched again.
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
