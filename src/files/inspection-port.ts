// What inspection may do beyond discovery: read files of a package, and have its code evaluated in confinement.
import type { DiscoveryPort } from "./discovery-port.ts";

/** The most that is read of a definition file. */
export const maximumFileBytes = 1 << 20;

/** The most that is read of a module to find its exports: bundles are larger than definitions. */
export const maximumModuleBytes = 16 << 20;

/** What reading a file of a package gave. */
export type FileRead =
  | { state: "absent" }
  /** It lies outside the package once symbolic links are followed. */
  | { state: "outside" }
  | { state: "unusable"; reason: string }
  | { state: "tooLarge"; bytes: number }
  | { state: "read"; bytes: Uint8Array; realPath: string };

/** What a path of a package leads to once symbolic links are followed; `other` is a device, a socket or a pipe. */
export type PathKind = "file" | "folder" | "other" | "absent" | "outside";

export interface InspectionPort extends DiscoveryPort {
  /** Names of everything in a folder of a package that is no folder; `undefined` where there is no such folder. */
  listFiles(packageRoot: string, path: string): string[] | undefined;
  /**
   * Reads a regular file of at most `limit` bytes (default: `maximumFileBytes`). `packageRoot` is a real path; `path`
   * is relative to it, with `/`. What is read is what was checked: a file that is swapped for a link meanwhile is
   * refused.
   */
  readFile(packageRoot: string, path: string, limit?: number): FileRead;
  describePath(packageRoot: string, path: string): PathKind;
  /** Whether a relative path leads to something outside the package, links followed. What is absent is inside. */
  leavesPackage(packageRoot: string, path: string): boolean;
}
