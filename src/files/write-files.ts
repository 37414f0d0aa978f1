import { isUtf8 } from "node:buffer";
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
import { formatSize } from "../problems/index.ts";
import { attempt, describeFileType, errorCode, openFlags } from "./file-errors.ts";

/** Thrown for what is not a file that can be edited. The message continues after the file. */
export class UnusableFileError extends Error {
  override readonly name = "UnusableFileError";
}

/** Thrown where another program uses a file. */
export class BusyFileError extends UnusableFileError {}

/** Why the file system, or this module, refuses a file; `undefined` for other errors. */
export function explainFileError(error: unknown): string | undefined {
  if (error instanceof UnusableFileError) return error.message;
  if (!(error instanceof Error) || !("syscall" in error)) return undefined;
  // `EACCES: permission denied, open '/etc/hosts'`
  return /^[A-Z\d]+: ([^,]+)/.exec(error.message)?.[1] ?? errorCode(error);
}

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

/** The bytes of a file; `undefined` if it does not exist. Throws `UnusableFileError` for what is not a file or too large. */
export function readBytes(file: string, mostBytes = maximumBytes): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, openFlags);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new UnusableFileError(`it is ${describeFileType(stats)}, not a file`);
    if (stats.size > mostBytes)
      throw new UnusableFileError(`it has ${formatSize(stats.size)}; the limit is ${formatSize(mostBytes)}`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a file, with its byte order mark; `undefined` if it does not exist. Throws like `readBytes`, and if it is not UTF-8. */
export function readText(file: string): string | undefined {
  const bytes = readBytes(file);
  if (bytes !== undefined && !isUtf8(bytes)) throw new UnusableFileError("it is not UTF-8");
  return bytes?.toString();
}

/**
 * Creates missing folders. Returns the created ones, innermost first. Creates them one by one, because Node's recursive
 * `mkdir` never ends in folders such as /proc.
 */
export function makeFolders(folder: string, mode?: number): string[] {
  if (existsSync(folder) || dirname(folder) === folder) return [];
  const made = makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
    return [folder, ...made];
  } catch (error) {
    // Another process may have created it.
    if (errorCode(error) !== "EEXIST") throw error;
    return made;
  }
}

const draftPrefix = (file: string) => `.${basename(file)}.trailblaze-`;

/** Deletes drafts of processes that were killed. Call this only while holding the file's lock. */
export function removeDrafts(file: string): void {
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(draftPrefix(file))) rmSync(join(dirname(file), name), { force: true });
}

/** Writes a draft next to a file and returns its path. Leaves nothing behind if that fails. Default: the usual mode of new files. */
export function writeBeside(
  file: string,
  bytes: Uint8Array,
  mode: number | undefined,
  owner?: { uid: number; gid: number },
): string {
  const draft = join(dirname(file), `${draftPrefix(file)}${randomBytes(6).toString("hex")}`);
  const descriptor = openSync(draft, "wx", mode === undefined ? 0o666 : 0o600);
  try {
    writeFileSync(descriptor, bytes);
    // Where it cannot be given to its owner, the file becomes this user's.
    if (owner !== undefined) attempt(() => fchownSync(descriptor, owner.uid, owner.gid));
    if (mode !== undefined) fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces a file as a whole. Leaves nothing behind if that fails. */
export function replaceFile(file: string, bytes: Uint8Array, mode: number): void {
  const draft = writeBeside(file, bytes, mode);
  try {
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
