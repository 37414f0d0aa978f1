import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { describeFileType, errorCode, openFlags } from "./file-errors.ts";
import { type FileRead, type InspectionPort, maximumFileBytes, type PathKind } from "./inspection-port.ts";
import { createNodeDiscoveryPort } from "./node-discovery-port.ts";

/** True for a path in a folder and for the folder itself. */
export function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Reads an open file after checking that it is a regular file at its real path inside the package. */
function readOpened(descriptor: number, packageRoot: string, path: string, limit: number): FileRead {
  const stats = fstatSync(descriptor);
  if (!stats.isFile())
    return { state: "unusable", reason: `it is ${describeFileType(stats)}, not a regular file` };
  const realPath = realPathOf(path);
  if (realPath === undefined) return { state: "unusable", reason: "it was deleted while it was being read" };
  if (!isBelow(packageRoot, realPath)) return { state: "outside" };
  const named = lstatSync(realPath, { throwIfNoEntry: false });
  // The file may have been replaced since it was opened.
  if (named?.ino !== stats.ino || named.dev !== stats.dev)
    return { state: "unusable", reason: "it was replaced while it was being read" };
  if (stats.size > limit) return { state: "tooLarge", bytes: stats.size };

  // One extra byte detects a file that grows.
  const buffer = Buffer.allocUnsafe(stats.size + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; length += count) {
    count = readSync(descriptor, buffer, length, buffer.length - length, null);
  }
  if (length > stats.size) return { state: "unusable", reason: "it changed while it was being read" };
  return { state: "read", bytes: buffer.subarray(0, length), realPath };
}

function readFile(packageRoot: string, path: string, limit = maximumFileBytes): FileRead {
  const absolute = join(packageRoot, path);
  let descriptor: number;
  try {
    descriptor = openSync(absolute, openFlags);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent" };
    const reason = code === "ENXIO" ? "it is a socket, not a regular file" : `it cannot be opened (${code})`;
    return { state: "unusable", reason };
  }
  try {
    return readOpened(descriptor, packageRoot, absolute, limit);
  } catch (error) {
    return { state: "unusable", reason: `it cannot be read (${errorCode(error)})` };
  } finally {
    closeSync(descriptor);
  }
}

function describePath(packageRoot: string, path: string): PathKind {
  const absolute = join(packageRoot, path);
  const realPath = realPathOf(absolute);
  if (isAbsolute(path) || !isBelow(packageRoot, realPath ?? absolute)) return "outside";
  const stats = realPath === undefined ? undefined : lstatSync(realPath, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  if (stats.isDirectory()) return "folder";
  return stats.isFile() ? "file" : "other";
}

function listFiles(packageRoot: string, path: string): string[] | undefined {
  const real = realPathOf(join(packageRoot, path));
  if (real === undefined || !isBelow(packageRoot, real)) return undefined;
  try {
    const entries = readdirSync(real, { withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

function leavesPackage(packageRoot: string, path: string): boolean {
  const absolute = join(packageRoot, path);
  return isAbsolute(path) || !isBelow(packageRoot, realPathOf(absolute) ?? absolute);
}

/** Creates a port for this machine's file system. */
export function createNodeInspectionPort(): InspectionPort {
  return {
    ...createNodeDiscoveryPort(),
    readFile,
    describePath,
    listFiles,
    leavesPackage,
  };
}
