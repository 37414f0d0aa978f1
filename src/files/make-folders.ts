import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./file-errors.ts";

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
