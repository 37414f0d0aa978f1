import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { attempt, describeFileType, errorCode, openFlags } from "./file-errors.ts";
import {
  type FileRead,
  type InspectionPort,
  isBelow,
  maximumFileBytes,
  type PathKind,
} from "./inspection-port.ts";
import { discoveryPort } from "./node-discovery-port.ts";

function readFile(packageRoot: string, path: string, limit = maximumFileBytes): FileRead {
  let descriptor: number | undefined;
  try {
    const realPath = realpathSync.native(join(packageRoot, path));
    if (!isBelow(packageRoot, realPath)) return { state: "outside" };
    // A link that has replaced the file since is not followed.
    descriptor = openSync(realPath, openFlags | (constants.O_NOFOLLOW ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile())
      return { state: "unusable", reason: `it is ${describeFileType(stats)}, not a regular file` };
    if (stats.size > limit) return { state: "tooLarge", bytes: stats.size };
    return { state: "read", bytes: readFileSync(descriptor), realPath };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent" };
    return { state: "unusable", reason: `it cannot be opened (${code})` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function describePath(packageRoot: string, path: string): PathKind {
  const absolute = join(packageRoot, path);
  const realPath = discoveryPort.realPath(absolute);
  if (isAbsolute(path) || !isBelow(packageRoot, realPath ?? absolute)) return "outside";
  const stats = realPath === undefined ? undefined : lstatSync(realPath, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  if (stats.isDirectory()) return "folder";
  return stats.isFile() ? "file" : "other";
}

function listFiles(packageRoot: string, path: string): string[] | undefined {
  const real = discoveryPort.realPath(join(packageRoot, path));
  if (real === undefined || !isBelow(packageRoot, real)) return undefined;
  const entries = attempt(() => readdirSync(real, { withFileTypes: true }));
  return entries?.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

export const inspectionPort: InspectionPort = { ...discoveryPort, readFile, describePath, listFiles };
