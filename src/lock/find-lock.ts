import { lstatSync } from "node:fs";
import { sep } from "node:path";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { lockFileOf, readLock } from "./lock-file.ts";
import type { LockFile } from "./types.ts";

/** The lock of a session. */
export interface FoundLock {
  /** Absolute path. */
  file: string;
  /** Its folder: the project's, or one above it up to the root of its workspace. */
  folder: string;
  lock: LockFile;
}

/** Whether a folder above a project belongs to its workspace. */
async function isInWorkspace(folder: string, project: string): Promise<boolean> {
  const port = createNodeDiscoveryPort();
  const { root } = await findWorkspace(port, findProject(port, project));
  return `${folder}${sep}`.startsWith(`${root}${sep}`);
}

/**
 * Reads the nearest lock from a project up to the root of its workspace; `undefined` if there is none. Throws
 * `TrailblazeError` `LockMalformed`. Trust level: none is needed; its strings are not trusted.
 */
export async function findLock(project: string): Promise<FoundLock | undefined> {
  for (const folder of ancestorsOf(project)) {
    const file = lockFileOf(folder);
    // A link that leads nowhere is malformed.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) continue;
    if (folder !== project && !(await isInWorkspace(folder, project))) return undefined;
    const lock = await readLock(folder);
    if (lock !== undefined) return { file, folder, lock };
  }
  return undefined;
}
