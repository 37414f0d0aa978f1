import { constants, existsSync, mkdirSync, type Stats } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates missing folders. Returns the created ones, innermost first. Creates them one by one, because Node's recursive
 * `mkdir` never ends in folders such as /proc.
 */
export function makeFolders(folder: string, mode?: number): string[] {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && path !== dirname(path); path = dirname(path))
    missing.push(path);
  const made: string[] = [];
  for (const path of missing.toReversed()) {
    try {
      mkdirSync(path, { mode });
      made.unshift(path);
    } catch (error) {
      // Another process may have created it.
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
  return made;
}

/** Non-blocking, because opening a named pipe would wait for a writer. Windows has no such flag. */
export const openFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}

/** Describes an entry that is not a regular file. */
export function describeFileType(stats: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket">): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
