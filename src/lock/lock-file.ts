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
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import {
  followLinks,
  readBytes as readFileBytes,
  removeDrafts,
  UnusableFileError,
} from "../files/write-files.ts";
import { failure, type Path, quote, type TrailblazeError } from "../problems/index.ts";
import { hashText, type Json, type LockedPack, type LockedServer, type LockFile, ownEntry } from "./json.ts";

export const lockFileName = "trailblaze.lock";

/** The lock of a project: next to its package.json. */
export const lockFileOf = (project: string) => join(project, lockFileName);

export const createLock = (): LockFile => ({ lockfileVersion: 1, packs: {}, servers: {} });

/** An entry of a pack, or of a server of the config. */
type Entry = LockedPack | LockedServer;

export const deniedIn = (entry: Entry | undefined): string[] =>
  Array.isArray(entry?.denied) ? entry.denied.map(String) : [];

/** Whether an entry has denials alone: it approves nothing, and outlives what it is about. */
export const hasOnlyDenials = (entry: Entry | undefined): boolean =>
  Array.isArray(entry?.denied) && Object.keys(entry).every((key) => key === "denied" || key === "surface");

/** An entry without what models do not see. */
function surfaceOf(entry: Entry): Json {
  const { version: _, surface: __, denied: ___, ...seen } = entry;
  return seen as Json;
}

export const hashSurface = (entry: Entry): string => hashText(formatJson(surfaceOf(entry)));

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

/**
 * Where a value does not have the shape of a lock, as far as the rest of the program relies on it; `undefined` for one that has it.
 * Not by zod, which passes over keys called `__proto__`: a tool of a server may be called so.
 */
type Shape = (value: unknown) => Path | undefined;

const shapeOf =
  (isValid: (value: unknown) => boolean): Shape =>
  (value) =>
    isValid(value) ? undefined : [];

/** An object with values of these shapes by key, and of `others`. */
const objectOf =
  (shapes: Readonly<Record<string, Shape>>, others: Shape, required: readonly string[] = []): Shape =>
  (value) => {
    if (!isRecord(value)) return [];
    const missing = required.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return [missing];
    for (const [key, inner] of Object.entries(value)) {
      const path = (ownEntry(shapes, key) ?? others)(inner);
      if (path !== undefined) return [key, ...path];
    }
    return undefined;
  };

const isText = (value: unknown) => typeof value === "string";
const anything = shapeOf(() => true);
const nothing = shapeOf(() => false);
const object = shapeOf(isRecord);
const items = objectOf({}, object);
const version = shapeOf((value) => value === null || isText(value));
const denied = shapeOf((value) => Array.isArray(value) && value.every(isText));

const server = objectOf(
  {
    version,
    denied,
    launch: object,
    lists: (value) => (value === null ? undefined : items(value)),
    prompts: items,
    resources: items,
    skills: items,
  },
  anything,
);

const pack = objectOf(
  {
    version,
    surface: shapeOf(isText),
    denied,
    needs: object,
    tools: items,
    servers: objectOf({}, server),
    toolsets: items,
    prompts: items,
    resources: items,
    skills: items,
  },
  nothing,
);

/** Where a value does not have the shape of a lock. */
const findMisshapen: Shape = objectOf(
  {
    lockfileVersion: shapeOf((value) => value === 1),
    packs: objectOf({}, pack),
    servers: objectOf({}, server),
  },
  nothing,
  ["lockfileVersion", "packs", "servers"],
);

/** What is wrong with a value that should be a lock. */
function findFault(value: unknown): string | undefined {
  const path = findMisshapen(value);
  if (path?.length === 0) return "it is not an object";
  if (path !== undefined) return `${quote(path.join("/"), 200)} in it is missing, unknown or invalid`;
  const { packs, servers } = value as unknown as LockFile;
  for (const entries of [packs, servers])
    for (const [name, entry] of Object.entries<Entry>(entries)) {
      const isUnlaunched = entries === servers && !("launch" in entry);
      // A server of the config that was refused may have no launch.
      if (isUnlaunched && hasOnlyDenials(entry)) continue;
      if (isUnlaunched) return `the entry of ${quote(name, 200)} has no \`launch\``;
      const surface = surfaceOf(entry);
      // Keys are sorted in the file, so that nearly always this is the canonical form already, and many times as fast.
      if (![JSON.stringify, formatJson].some((format) => entry.surface === hashText(format(surface))))
        return `the entry of ${quote(name, 200)} does not fit its \`surface\`: it was edited or merged by hand`;
    }
  return undefined;
}

const mergeMarkers = /^(?:<{7}|={7}|>{7})(?:\s|$)/m;

/** The error for a text that is not JSON. */
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
export async function readLock(project: string): Promise<LockFile | undefined> {
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
  const reason = findFault(value);
  if (reason !== undefined) throw failure("LockMalformed", { file, reason }, { file });
  return value as unknown as LockFile;
}

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
    if (!isThere(file)) continue;
    if (folder !== project && !(await isInWorkspace(folder, project))) return undefined;
    const lock = await readLock(folder);
    if (lock !== undefined) return { file, folder, lock };
  }
  return undefined;
}

/** The text of a lock: the same contents give the same bytes. Sets `surface` of every entry. */
export function formatLock({ packs, servers }: LockFile): string {
  const withHashes = (entries: Readonly<Record<string, Entry>>) =>
    Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [name, { ...entry, surface: hashSurface(entry) }]),
    ) as Json;
  return `${formatJson({ lockfileVersion: 1, packs: withHashes(packs), servers: withHashes(servers) }, "")}\n`;
}

/**
 * Changes the lock of a project: reads it, replaces it atomically, and keeps changes that other processes made before.
 * `change` returns `undefined` to leave the file as it is. Resolves with whether it was written. Throws `LockMalformed`,
 * and `InvalidArguments` if the file cannot be written.
 */
export async function changeLock(
  project: string,
  change: (lock: LockFile | undefined) => LockFile | undefined,
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
    const text = formatLock(changed);
    if (text === before) return false;
    applyEdits([{ file, before, after: text }]);
    return true;
  } finally {
    release();
  }
}
