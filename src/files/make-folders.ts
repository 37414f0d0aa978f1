import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./file-facts.ts";

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
