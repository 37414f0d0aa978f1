import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { failure } from "../problems/index.ts";
import { describeFileType, errorCode } from "./file-facts.ts";
import { type FileLock, LockHeldError, type LockOptions, lockFile } from "./file-lock.ts";
import { makeFolders } from "./make-folders.ts";

/** Larger than any config that people or clients keep. */
const maximumBytes = 64 << 20;
const maximumLinks = 40;
const keptBackups = 10;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk",
  EDQUOT: "no space is left for this user",
  ENOTDIR: "a part of its path is no folder",
  ELOOP: "symbolic links go in a circle",
  ENAMETOOLONG: "its path is too long",
};

/** Runs what touches a file; what the system refuses becomes `ClientConfigUnwritable`. */
function refuse<Result>(file: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw describeRefusal(file, error);
  }
}

function describeRefusal(file: string, error: unknown): unknown {
  if (error instanceof LockHeldError) {
    return failure("ClientConfigUnwritable", { file, reason: error.message }, { file }, { cause: error });
  }
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const code = errorCode(error);
  const reason = Object.hasOwn(reasons, code) ? (reasons[code] ?? code) : code;
  return failure("ClientConfigUnwritable", { file, reason }, { file }, { cause: error });
}

/** The steps of a change, for tests that end the process there. */
export type ChangeStep = "locked" | "backedUp" | "drafted" | "replaced";

export interface ConfigFilesOptions extends LockOptions {
  /** Folder of backups, made where it is missing. */
  backups: string;
  onStep?: ((step: ChangeStep, file: string) => void) | undefined;
}

/** What may be done to the configs of other programs, and how: each is replaced as a whole, or not at all. */
export class ConfigFiles {
  readonly #options: ConfigFilesOptions;

  constructor(options: ConfigFilesOptions) {
    this.#options = options;
  }

  exists(path: string): boolean {
    try {
      return statSync(path, { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  }

  /** Whether two paths lead to the same place. */
  areSame(path: string, other: string): boolean {
    try {
      return realpathSync(path) === realpathSync(other);
    } catch {
      return false;
    }
  }

  /** Where a path leads once symbolic links are followed, also where nothing is there yet. */
  findRealFile(file: string): string {
    return refuse(file, () => {
      let path = resolve(file);
      for (let links = 0; links < maximumLinks; links++) {
        const folder = findRealFolder(dirname(path));
        path = join(folder, basename(path));
        const stats = lstatSync(path, { throwIfNoEntry: false });
        if (stats?.isSymbolicLink() !== true) return path;
        path = resolve(folder, readlinkSync(path));
      }
      throw failure("ClientConfigUnwritable", { file, reason: reasons.ELOOP ?? "" }, { file });
    });
  }

  /**
   * The text of a file, its byte order mark included; `undefined` where there is none. Throws `TrailblazeError`
   * `ClientConfigMalformed` for what is no text.
   */
  read(file: string): string | undefined {
    const malformed = (reason: string) => failure("ClientConfigMalformed", { file, reason }, { file });
    let bytes: Buffer;
    try {
      const stats = statSync(file);
      if (!stats.isFile()) throw malformed(`it is ${describeFileType(stats)}, not a file`);
      if (stats.size > maximumBytes) throw malformed(`it has ${stats.size} bytes`);
      bytes = readFileSync(file);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw describeRefusal(file, error);
    }
    try {
      return utf8.decode(bytes);
    } catch {
      throw malformed("it is not UTF-8 text");
    }
  }

  /** Makes the folder of a file; gives those that were made, innermost first. */
  makeFolders(file: string, mode: number): string[] {
    return refuse(file, () => makeFolders(dirname(file), mode));
  }

  /** Removes folders that are empty. */
  removeFolders(folders: readonly string[]): void {
    for (const folder of folders) {
      try {
        rmdirSync(folder);
      } catch {
        return;
      }
    }
  }

  async lock(file: string): Promise<FileLock> {
    try {
      const lock = await lockFile(file, this.#options);
      removeDrafts(file);
      this.#options.onStep?.("locked", file);
      return lock;
    } catch (error) {
      throw describeRefusal(file, error);
    }
  }

  /** Copies a file as it is; gives the copy's path. The oldest copies of the same file go. */
  backUp(file: string): string {
    return refuse(file, () => {
      const { backups } = this.#options;
      makeFolders(backups, 0o700);
      const prefix = `${createHash("sha256").update(file).digest("hex").slice(0, 8)}-`;
      const time = new Date().toISOString().replaceAll(":", "-");
      const name = `${prefix}${time}-${randomBytes(2).toString("hex")}-${basename(file)}`;
      const backup = join(backups, name);
      writeWhole(backup, readFileSync(file), 0o600);
      const others = readdirSync(backups).filter((other) => other.startsWith(prefix));
      for (const old of others.sort().slice(0, -keptBackups)) rmSync(join(backups, old), { force: true });
      this.#options.onStep?.("backedUp", file);
      return backup;
    });
  }

  /**
   * Puts a text in the place of a file, which keeps its mode and its owner. At every moment there is the old file or the
   * new one. `file` is a real path. Gives false, with nothing done, where the lock was lost.
   */
  replace(file: string, text: string, { lock, newMode }: { lock: FileLock; newMode: number }): boolean {
    return refuse(file, () => {
      const stats = statSync(file, { throwIfNoEntry: false });
      // A new file could take its place all the same, which its owner does not want.
      if (stats !== undefined) accessSync(file, constants.W_OK);
      const draft = join(dirname(file), `${draftPrefix(file)}${randomBytes(6).toString("hex")}`);
      try {
        writeWhole(draft, Buffer.from(text), stats === undefined ? newMode : stats.mode & 0o7777, stats);
        this.#options.onStep?.("drafted", file);
        if (!lock.isHeld()) {
          rmSync(draft, { force: true });
          return false;
        }
        renameSync(draft, file);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
      syncFolder(dirname(file));
      this.#options.onStep?.("replaced", file);
      return true;
    });
  }

  remove(file: string): void {
    refuse(file, () => {
      rmSync(file);
      this.#options.onStep?.("replaced", file);
    });
  }
}

const draftPrefix = (file: string) => `.${basename(file)}.trailblaze-`;

/** Takes away what a process that was killed had not finished. Only who holds the lock may. */
function removeDrafts(file: string): void {
  const prefix = draftPrefix(file);
  for (const name of readdirSync(dirname(file))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(file), name), { force: true });
  }
}

/** A folder with symbolic links followed, as far as it is there. */
function findRealFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    return join(findRealFolder(dirname(folder)), basename(folder));
  }
}

function writeWhole(
  path: string,
  bytes: Uint8Array,
  mode: number,
  owner?: { uid: number; gid: number } | undefined,
): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    if (owner !== undefined) {
      try {
        fchownSync(descriptor, owner.uid, owner.gid);
      } catch {
        // Only the owner's own files are meant to be edited; another owner's become the editor's.
      }
    }
    fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not every system can.
  }
}
