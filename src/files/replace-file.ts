import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

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
export function writeBeside(file: string, bytes: Uint8Array, options: WriteOptions): Draft {
  const path = nextTo(file);
  const draft = {
    file,
    path,
    commit: () => renameSync(path, file),
    discard: () => rmSync(path, { force: true }),
  };
  const descriptor = openSync(path, "wx", options.mode === undefined ? 0o666 : 0o600);
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
