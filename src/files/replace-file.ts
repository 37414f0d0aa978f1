import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FileSnapshot } from "./file-snapshot.ts";
import { errorCode } from "./make-folders.ts";

/** The assumed maximum time between another program's write of a new file and its rename. */
const movingMs = 1000;

/** A new file that is ready to replace another one. */
export interface Draft {
  file: string;
  path: string;
  /** Replaces the file unconditionally. */
  commit(): void;
  /** Deletes the draft. Does nothing after `commit`. */
  discard(): void;
}

interface WriteOptions {
  /** Default: the usual mode of new files. */
  mode?: number | undefined;
  owner?: { uid: number; gid: number } | undefined;
  /** Whether to sync the bytes to disk. */
  isLasting?: boolean;
}

const draftPrefix = (file: string) => `.${basename(file)}.trailblaze-`;
const nextTo = (file: string) => join(dirname(file), `${draftPrefix(file)}${randomBytes(6).toString("hex")}`);

/** Deletes drafts of processes that were killed. Call this only while holding the file's lock. */
export function removeDrafts(file: string): void {
  const prefix = draftPrefix(file);
  for (const name of readdirSync(dirname(file))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(file), name), { force: true });
  }
}

/** Writes all bytes. Always closes the descriptor. */
export function writeAndClose(
  descriptor: number,
  bytes: Uint8Array,
  { mode, owner, isLasting = false }: WriteOptions,
): void {
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    if (owner !== undefined) {
      try {
        fchownSync(descriptor, owner.uid, owner.gid);
      } catch {
        // The file becomes this user's.
      }
    }
    if (mode !== undefined) fchmodSync(descriptor, mode);
    if (isLasting) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a file or folder to disk, if the system supports it. */
export function sync(path: string, flags: "r" | "r+"): void {
  try {
    const descriptor = openSync(path, flags);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not every system supports it.
  }
}

/** Writes a draft next to a file. Leaves nothing behind if that fails. */
export function writeBeside(
  file: string,
  bytes: Uint8Array,
  options: WriteOptions,
  snapshot?: FileSnapshot,
): Draft {
  const path = nextTo(file);
  const draft = {
    file,
    path,
    commit: () => renameSync(path, file),
    discard: () => rmSync(path, { force: true }),
  };
  const make = () => openSync(path, "wx", options.mode === undefined ? 0o666 : 0o600);
  const descriptor = snapshot === undefined ? make() : snapshot.changeFolder(make);
  try {
    writeAndClose(descriptor, bytes, options);
  } catch (error) {
    draft.discard();
    throw error;
  }
  return draft;
}

/** Atomically replaces or creates a file that only Trailblaze writes. */
export function overwriteFile(file: string, bytes: Uint8Array, options: WriteOptions): void {
  const draft = writeBeside(file, bytes, options);
  try {
    draft.commit();
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/**
 * Writes a draft next to a file, so that replacing it is fast. Keeps the file's mode and owner; a new file gets `newMode`.
 * `file` is a real path.
 */
export function makeDraft(file: string, text: string, newMode: number, snapshot?: FileSnapshot): Draft {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A read-only file could be replaced, but its owner does not want changes.
  if (stats !== undefined) accessSync(file, constants.W_OK);
  const mode = stats === undefined ? newMode : stats.mode & 0o7777;
  return writeBeside(file, Buffer.from(text), { mode, owner: stats, isLasting: true }, snapshot);
}

/** Yields to other processes, so that the system is less likely to preempt this one in the next microseconds. */
const nap = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.1);

/** Whether another program has just written a new file next to this one, probably to replace it. */
function hasDraftOfAnother(file: string): boolean {
  const folder = dirname(file);
  const own = [basename(file), `${basename(file)}.lock`];
  return readdirSync(folder).some((name) => {
    if (!name.includes(basename(file)) || own.includes(name) || name.startsWith(draftPrefix(file)))
      return false;
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return stats?.isFile() === true && Math.abs(Date.now() - stats.mtimeMs) < movingMs;
  });
}

/** Moves a file to a path that does not exist. Returns false if it exists. */
function moveToFreePath(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    rmSync(from);
    return true;
  } catch (error) {
    // Some file systems have no hard links.
    if (errorCode(error) === "EEXIST" || lstatSync(to, { throwIfNoEntry: false }) !== undefined) return false;
    renameSync(from, to);
    return true;
  }
}

/**
 * Atomically replaces the file of a snapshot with a draft. Returns false without changes if another program has changed
 * the file since or seems about to; with `isFolderBusy`, only if it has changed.
 */
export function replaceFile(
  { file, path, commit }: Draft,
  snapshot: FileSnapshot,
  { isFolderBusy }: { isFolderBusy: boolean },
): boolean {
  if (snapshot.bytes === undefined) return moveToFreePath(path, file);
  if (!snapshot.hasSameBytes() || (!isFolderBusy && hasDraftOfAnother(file))) return false;
  nap();
  if (!isFolderBusy && !snapshot.isFolderQuiet()) return false;
  // Keep these two together: changes of other programs in between are lost.
  if (!snapshot.isInPlace()) return false;
  commit();
  return true;
}

/**
 * Deletes the file of a snapshot. Returns false and keeps the file if another program has changed it since. `keep` receives
 * the bytes that would otherwise be lost because a new file exists.
 */
export function removeFile({ file, bytes }: FileSnapshot, keep: (bytes: Buffer) => void): boolean {
  // Moved first, so that other programs cannot change it during the comparison.
  const aside = nextTo(file);
  renameSync(file, aside);
  const removed = readFileSync(aside);
  if (bytes?.equals(removed)) {
    rmSync(aside);
    return true;
  }
  if (!moveToFreePath(aside, file)) keep(removed);
  rmSync(aside, { force: true });
  return false;
}
