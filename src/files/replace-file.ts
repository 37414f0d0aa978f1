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

/** Another program takes no longer than this from writing a file to moving it to its place. */
const movingMs = 1000;

/** What is ready to take a file's place. */
export interface Draft {
  file: string;
  path: string;
  /** Puts it in the place of the file, whatever is there. */
  commit(): void;
  /** Does nothing where it took the file's place. */
  discard(): void;
}

interface WriteOptions {
  /** Default: that of any new file. */
  mode?: number | undefined;
  owner?: { uid: number; gid: number } | undefined;
  /** Whether to wait until the disk has the bytes. */
  isLasting?: boolean;
}

const draftPrefix = (file: string) => `.${basename(file)}.trailblaze-`;
const nextTo = (file: string) => join(dirname(file), `${draftPrefix(file)}${randomBytes(6).toString("hex")}`);

/** Removes what a process that was killed had not finished. Only the holder of the file's lock may. */
export function removeDrafts(file: string): void {
  const prefix = draftPrefix(file);
  for (const name of readdirSync(dirname(file))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(file), name), { force: true });
  }
}

/** Writes all bytes. Closes the descriptor, whatever happens. */
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
        // Only the owner's own files are meant to be edited; another owner's become the editor's.
      }
    }
    if (mode !== undefined) fchmodSync(descriptor, mode);
    if (isLasting) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Has the system put on the disk what it still keeps in memory, where it can. */
export function sync(path: string, flags: "r" | "r+"): void {
  try {
    const descriptor = openSync(path, flags);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not every system can.
  }
}

/** Writes bytes beside a file, ready to take its place; leaves nothing if that fails. */
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

/** Replaces or creates a file that only Trailblaze writes: at every moment there is the old file or the new one. */
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
 * Writes what is to take a file's place beside it, with all that takes time. The file's mode and owner are kept; a new file
 * has `newMode`. `file` is a real path.
 */
export function makeDraft(file: string, text: string, newMode: number, snapshot?: FileSnapshot): Draft {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A new file could take its place all the same, which its owner does not want.
  if (stats !== undefined) accessSync(file, constants.W_OK);
  const mode = stats === undefined ? newMode : stats.mode & 0o7777;
  return writeBeside(file, Buffer.from(text), { mode, owner: stats, isLasting: true }, snapshot);
}

/** Lets other processes run now, so that the system does not stop this one for their sake in the next microseconds. */
const nap = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.1);

/** Whether another program seems to be about to move a file here: one that it just wrote beside this one. */
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

/** Moves a file to a path where there is none. Gives false where there is one. */
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
 * Puts a draft in the place of the file that was read. At every moment there is the old file or the new one. Gives false, with
 * nothing done, where another program changed the file since, or seems about to; with `isFolderBusy` only where it did.
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
  // Nothing may come between these two: a change that another program makes there is lost.
  if (!snapshot.isInPlace()) return false;
  commit();
  return true;
}

/**
 * Removes the file that was read. Gives false, with the file as it is, where another program changed it since. `keep` gets
 * what would be lost because there is another file by now.
 */
export function removeFile({ file, bytes }: FileSnapshot, keep: (bytes: Buffer) => void): boolean {
  // It is looked at where no other program finds it any more.
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
