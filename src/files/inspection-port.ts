// Everything that inspection can do in addition to discovery: read the files of a package.
import { isAbsolute, relative, sep } from "node:path";
import type { DiscoveryPort } from "./discovery-port.ts";

/** Limit on the size of a definition file. */
export const maximumFileBytes = 1 << 20;

/** Limit on the size of a module whose exports are parsed: bundled code is larger than definitions. */
export const maximumModuleBytes = 16 << 20;

export const maximumResourceBytes = 10 << 20;

export type FileRead =
  | { state: "absent" }
  /** Its real path is outside the package. */
  | { state: "outside" }
  | { state: "unusable"; reason: string }
  | { state: "tooLarge"; bytes: number }
  | { state: "read"; bytes: Uint8Array; realPath: string };

/** The kind of a path with links followed; `other` is a device, a socket or a pipe. */
export type PathKind = "file" | "folder" | "other" | "absent" | "outside";

/** A path in a folder, or the folder itself, relative to it and with `/`; `undefined` outside it. */
export function pathIn(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? undefined : way.split(sep).join("/");
}

export const isBelow = (folder: string, path: string): boolean => pathIn(folder, path) !== undefined;

export interface InspectionPort extends DiscoveryPort {
  /** Names of all entries of a folder except subfolders; `undefined` if the folder does not exist. */
  listFiles(packageRoot: string, path: string): string[] | undefined;
  /**
   * Reads a regular file of at most `limit` bytes (default: `maximumFileBytes`). `packageRoot` is a real path; `path`
   * is relative to it, with `/`.
   */
  readFile(packageRoot: string, path: string, limit?: number): FileRead;
  /** A path that does not exist may be outside as it is written. */
  describePath(packageRoot: string, path: string): PathKind;
}
