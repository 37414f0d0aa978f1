import { constants, existsSync, mkdirSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";

/**
 * Makes the missing folders down to a path; gives those that were made, innermost first. One at a time: Node's own way
 * never ends where a system says "no such folder" of one that is there, as in /proc.
 */
export function makeFolders(folder: string, mode?: number): string[] {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && path !== dirname(path); path = dirname(path))
    missing.push(path);
  const made: string[] = [];
  for (const path of missing.toReversed()) {
    try {
      mkdirSync(path, mode === undefined ? {} : { mode });
      made.unshift(path);
    } catch (error) {
      // Another process may have made it meanwhile.
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
  return made;
}

/** The user's home, which a process without HOME and without an entry in the system's table has not. */
export function findHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** Opening a FIFO for reading would wait for a writer, so nothing is opened in blocking mode; Windows has no such flag. */
export const openFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}

/** What something is that is no regular file. */
export function describeFileType(stats: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket">): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
