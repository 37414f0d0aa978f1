import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isRecord, parseJson } from "../data/parse-json.ts";
import { isPackageName } from "../qualified-names/package-name.ts";
import { createNodeDiscoveryPort } from "./node-discovery-port.ts";

/** More packages than any pack brings along; beyond, links are not followed any more. */
const maximumPackages = 2000;

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

const groups = ["dependencies", "optionalDependencies", "peerDependencies"];

function namesIn(manifest: Record<string, unknown>, keys: readonly string[]): string[] {
  return keys
    .flatMap((key) => (isRecord(manifest[key]) ? Object.keys(manifest[key]) : []))
    .filter(isPackageName);
}

/** Makes a function that tells which package code in a folder gets by a name, links followed. */
function createResolver(): (directory: string, name: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  const follow = (path: string): string | undefined => {
    if (!known.has(path)) known.set(path, realPath(path));
    return known.get(path);
  };
  return (directory, name) => {
    for (const folder of nodeModulesAbove(directory)) {
      const found = follow(folder) === undefined ? undefined : follow(join(folder, name));
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/**
 * What code of a pack may read: its own folder, every node_modules on the way up, and the packages that its
 * declared dependencies lead to elsewhere, as in an isolated store or a workspace. `root` is a real path.
 */
export function findReadGrants(root: string): string[] {
  const port = createNodeDiscoveryPort();
  const resolvePackage = createResolver();
  const grants = new Grants();
  grants.add(root);
  grants.addNodeModules(root);

  const packages = new Set([root]);
  for (const directory of packages) {
    const read = port.readManifest(directory, "always");
    if (read.state !== "read") continue;
    let manifest: unknown;
    try {
      manifest = parseJson(read.bytes).value;
    } catch {
      continue;
    }
    if (!isRecord(manifest)) continue;
    // A link that is a pack's own making could lead to anything; a package it has to be.
    if (directory !== root && !grants.covers(directory)) {
      if (typeof manifest.name !== "string") continue;
      grants.add(directory);
      grants.addNodeModules(directory);
    }
    for (const name of namesIn(manifest, directory === root ? [...groups, "devDependencies"] : groups)) {
      const found = packages.size < maximumPackages ? resolvePackage(directory, name) : undefined;
      // A folder around the pack would show what lies beside it.
      if (found !== undefined && !isInside(found, root)) packages.add(found);
    }
  }
  return grants.list();
}
