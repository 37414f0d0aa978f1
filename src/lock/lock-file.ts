import { lstatSync } from "node:fs";
import { join, sep } from "node:path";
import { formatJson } from "../data/json-values.ts";
import { DataSyntaxError, isRecord } from "../data/parse-json.ts";
import { parseSource } from "../data/source-text.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { applyEdits } from "../files/edit.ts";
import { errorCode } from "../files/file-errors.ts";
import { lockFile } from "../files/file-lock.ts";
import { discoveryPort as port } from "../files/node-discovery-port.ts";
import {
  followLinks,
  readBytes as readFileBytes,
  removeDrafts,
  UnusableFileError,
} from "../files/write-files.ts";
import { failure, quote, type TrailblazeError } from "../problems/index.ts";
import { hashText, type Json, type LockedItem, type LockFile } from "./json.ts";
import { hasOnlyDenials, LockFault, type LockParts, lockOf, partsOf } from "./parts.ts";

export const lockFileName = "trailblaze.lock";

export const lockFileOf = (project: string) => join(project, lockFileName);

function surfaceOf(entry: LockedItem): Json {
  const { version: _, surface: __, denied: ___, ...seen } = entry;
  return seen;
}

/** Of what models see of an entry, in its canonical form. */
export const hashSurface = (entry: LockedItem): string => hashText(formatJson(surfaceOf(entry)));

const isThere = (file: string) => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** The bytes of the file; `undefined` if it does not exist. Throws `LockMalformed`. */
function readBytes(file: string): Buffer | undefined {
  // A link that leads nowhere is there.
  let reason = "it cannot be read (ENOENT)";
  try {
    const bytes = readFileBytes(file);
    if (bytes !== undefined || !isThere(file)) return bytes;
  } catch (error) {
    reason = error instanceof UnusableFileError ? error.message : `it cannot be read (${errorCode(error)})`;
  }
  throw failure("LockMalformed", { file, reason }, { file });
}

/** The parts of a lock whose entries fit their hashes. Throws `LockFault`. */
function readParts(value: unknown): LockParts {
  if (!isRecord(value)) throw new LockFault("it is not an object");
  const lock = value as unknown as LockFile;
  const parts = partsOf(lock);
  for (const entries of [lock.packs, lock.servers])
    for (const [name, entry] of Object.entries(entries)) {
      const isUnlaunched = entries === lock.servers && !("launch" in entry);
      // A server of the config that was refused may have no launch.
      if (isUnlaunched && hasOnlyDenials(entry)) continue;
      if (isUnlaunched) throw new LockFault(`the entry of ${quote(name, 200)} has no \`launch\``);
      const surface = surfaceOf(entry);
      // Keys are sorted in the file, so that nearly always this is the canonical form already, and many times as fast.
      if ([JSON.stringify, formatJson].some((format) => entry.surface === hashText(format(surface))))
        continue;
      const reason = "does not fit its `surface`: it was edited or merged by hand";
      throw new LockFault(`the entry of ${quote(name, 200)} ${reason}`);
    }
  return parts;
}

const mergeMarkers = /^(?:<{7}|={7}|>{7})(?:\s|$)/m;

async function explainSyntax(file: string, error: DataSyntaxError): Promise<TrailblazeError> {
  const marker = error.text === undefined ? null : mergeMarkers.exec(error.text);
  if (marker !== null) {
    const line = marker.input.slice(0, marker.index).split("\n").length;
    const reason = "it has conflict markers of a merge";
    const hint = "Run `git checkout --theirs trailblaze.lock && trailblaze approve`.";
    return failure("LockMalformed", { file, reason, hint }, { file, line, column: 1 });
  }
  const { describeSyntaxError } = await import("../data/json-positions.ts");
  const { reason, line, column } = describeSyntaxError(error);
  return failure("LockMalformed", { file, reason }, { file, line, column });
}

/**
 * Reads the lock of a project; `undefined` if there is none. Throws `TrailblazeError` `LockMalformed` for a file that is not
 * a valid lock: it is never treated as absent. Trust level: none is needed; its strings are not trusted.
 */
export async function readLock(project: string): Promise<LockParts | undefined> {
  const file = lockFileOf(project);
  const bytes = readBytes(file);
  if (bytes === undefined) return undefined;
  const { value } = await parseSource("json", bytes).catch(async (error: unknown) => {
    throw error instanceof DataSyntaxError ? await explainSyntax(file, error) : error;
  });
  const version = isRecord(value) ? value.lockfileVersion : undefined;
  if (typeof version === "number" && version > 1) {
    const reason = `it has lockfileVersion ${version}, which a later version of Trailblaze wrote`;
    throw failure("LockMalformed", { file, reason, hint: "Update Trailblaze." }, { file });
  }
  try {
    return readParts(value);
  } catch (error) {
    if (!(error instanceof LockFault)) throw error;
    throw failure("LockMalformed", { file, reason: error.message }, { file });
  }
}

export interface FoundLock {
  /** Its folder: the project's, or one above it up to the root of its workspace. */
  folder: string;
  parts: LockParts;
}

async function isInWorkspace(folder: string, project: string): Promise<boolean> {
  const { root } = await findWorkspace(port, findProject(port, project));
  return `${folder}${sep}`.startsWith(`${root}${sep}`);
}

/** Reads the nearest lock from a project up to the root of its workspace, as `readLock` does. */
export async function findLock(project: string): Promise<FoundLock | undefined> {
  for (const folder of ancestorsOf(project)) {
    if (!isThere(lockFileOf(folder))) continue;
    if (folder !== project && !(await isInWorkspace(folder, project))) return undefined;
    const parts = await readLock(folder);
    if (parts !== undefined) return { folder, parts };
  }
  return undefined;
}

/** The text of a lock: the same contents give the same bytes. Sets `surface` of every entry. */
export function formatLock({ packs, servers }: LockFile): string {
  const withHashes = (entries: LockFile["packs"]): LockedItem =>
    Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [name, { ...entry, surface: hashSurface(entry) }]),
    );
  return `${formatJson({ lockfileVersion: 1, packs: withHashes(packs), servers: withHashes(servers) }, "")}\n`;
}

/**
 * Changes the lock of a project: reads it, replaces it atomically, and keeps changes that other processes made before.
 * `change` returns `undefined` to leave the file as it is. Resolves with whether it was written. Throws `LockMalformed`,
 * and `InvalidArguments` if the file cannot be written.
 */
export async function changeLock(
  project: string,
  change: (parts: LockParts | undefined) => LockParts | undefined,
): Promise<boolean> {
  const file = lockFileOf(project);
  const real = readBytes(file) === undefined ? file : followLinks(file);
  const release = await lockFile(real).catch((error: unknown) => {
    const reason = `${quote(file, 400)} cannot be locked: ${error instanceof Error ? error.message : String(error)}`;
    throw failure("InvalidArguments", { reason });
  });
  try {
    removeDrafts(real);
    const before = readBytes(file)?.toString();
    const changed = change(await readLock(project));
    if (changed === undefined) return false;
    const text = formatLock(lockOf(changed));
    if (text === before) return false;
    applyEdits([{ file, before, after: text }]);
    return true;
  } finally {
    release();
  }
}
