import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { describeFileType, errorCode, openFlags } from "./file-errors.ts";

/** Limit on the size of a file that is edited. */
const maximumBytes = 64 << 20;

/** The path with symbolic links followed. Its last segments, and what a link leads to, may not exist. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || dirname(path) === path) throw error;
  }
  const folder = followLinks(dirname(path));
  const place = join(folder, basename(path));
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? followLinks(resolve(folder, readlinkSync(place))) : place;
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / (1 << 20))} MiB`;

/**
 * The bytes of a file and when it was changed; `undefined` if it does not exist. Calls `refuse`, which throws, for what is not a
 * file or too large.
 */
export function readRegularFile(
  file: string,
  refuse: (reason: string) => never,
): { bytes: Buffer; changedAt: number } | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, openFlags);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) refuse(`it is ${describeFileType(stats)}, not a file`);
    if (stats.size > maximumBytes)
      refuse(`it has ${megabytes(stats.size)}; the limit is ${megabytes(maximumBytes)}`);
    return { bytes: readFileSync(descriptor), changedAt: stats.mtimeMs };
  } finally {
    closeSync(descriptor);
  }
}

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

/** A new file that is ready to replace another one. */
export interface Draft {
  /** Replaces the file unconditionally. */
  commit(): void;
  /** Deletes the draft. Does nothing after `commit`. */
  discard(): void;
}

interface WriteOptions {
  /** Default: the usual mode of new files. */
  mode?: number | undefined;
  owner?: { uid: number; gid: number } | undefined;
}

const draftPrefix = (file: string) => `.${basename(file)}.trailblaze-`;

/** Deletes drafts of processes that were killed. Call this only while holding the file's lock. */
export function removeDrafts(file: string): void {
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(draftPrefix(file))) rmSync(join(dirname(file), name), { force: true });
}

/** Writes a new file to the disk. */
export function writeNewFile(path: string, bytes: Uint8Array, { mode, owner }: WriteOptions): void {
  const descriptor = openSync(path, "wx", mode === undefined ? 0o666 : 0o600);
  try {
    writeFileSync(descriptor, bytes);
    if (owner !== undefined) {
      try {
        fchownSync(descriptor, owner.uid, owner.gid);
      } catch {
        // The file becomes this user's.
      }
    }
    if (mode !== undefined) fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a draft next to a file. Leaves nothing behind if that fails. */
export function writeBeside(file: string, bytes: Uint8Array, options: WriteOptions): Draft {
  const path = join(dirname(file), `${draftPrefix(file)}${randomBytes(6).toString("hex")}`);
  const discard = () => rmSync(path, { force: true });
  try {
    writeNewFile(path, bytes, options);
  } catch (error) {
    discard();
    throw error;
  }
  return { commit: () => renameSync(path, file), discard };
}

/** Atomically replaces or creates a file that only Trailblaze writes. */
export function overwriteFile(file: string, bytes: Uint8Array, options: WriteOptions): void {
  const draft = writeBeside(file, bytes, options);
  try {
    draft.commit();
  } finally {
    draft.discard();
  }
}
