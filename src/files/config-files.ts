import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { failure } from "../problems/index.ts";
import { type FileLock, LockHeldError, type LockOptions, lockFile } from "./file-lock.ts";
import { FileSnapshot } from "./file-snapshot.ts";
import { describeFileType, errorCode, makeFolders } from "./make-folders.ts";
import {
  type Draft,
  makeDraft,
  removeDrafts,
  removeFile,
  replaceFile,
  sync,
  writeAndClose,
} from "./replace-file.ts";

/** Limit on the size of a config. */
const maximumBytes = 64 << 20;
const maximumLinks = 40;
const keptBackups = 10;
/** A file that was changed this recently may be incomplete. */
const writingMs = 250;
/** The timeout of waiting for an incomplete file. */
const wholeMs = 1000;
/** A file that was changed this recently is likely to change again. */
const busyMs = 100;
const pauseMs = 30;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk",
  EDQUOT: "no space is left for this user",
  ENOTDIR: "a part of its path is not a folder",
  ELOOP: "symbolic links form a cycle",
  ENAMETOOLONG: "its path is too long",
  EFBIG: "it would exceed the system's limit on file sizes",
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs a file operation. File system errors become `ClientConfigUnwritable`. */
function attempt<Result>(file: string, run: () => Result): Result {
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
  /** Folder of backups, created on demand. */
  backups: string;
  onStep?: ((step: ChangeStep, file: string) => void) | undefined;
}

/** Reads and atomically replaces the configs of other programs. */
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

  /** Whether two paths have the same real path. */
  areSame(path: string, other: string): boolean {
    try {
      return realpathSync(path) === realpathSync(other);
    } catch {
      return false;
    }
  }

  /** The real path of a file, which may not exist yet. */
  findRealFile(file: string): string {
    return attempt(file, () => {
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
   * The text of a file with its byte order mark; `undefined` if it does not exist. Throws `TrailblazeError`
   * `ClientConfigMalformed` if it is not UTF-8 or too large.
   */
  read(file: string): string | undefined {
    const snapshot = this.#open(file);
    try {
      return decode(snapshot);
    } finally {
      snapshot.close();
    }
  }

  /**
   * Reads a file that another program may be writing. Retries for a while if it is incomplete. With `avoidBusy`, waits
   * briefly for another change if the file has just changed, because programs pause between writes. Throws as `read` does.
   */
  async open(
    file: string,
    { isWhole, avoidBusy = false }: { isWhole: (text: string) => boolean; avoidBusy?: boolean },
  ): Promise<OpenedFile> {
    const giveUpAt = performance.now() + wholeMs;
    let snapshot = this.#open(file);
    const isFresh = (ms: number) => Math.abs(Date.now() - Number(snapshot.stats?.mtimeMs ?? 0)) < ms;
    const readAgain = async (ms: number) => {
      snapshot.close();
      await pause(ms);
      snapshot = this.#open(file);
    };
    let isBusy = false;
    if (avoidBusy && isFresh(busyMs)) {
      const busyUntil = performance.now() + pauseMs;
      while (!isBusy && performance.now() < busyUntil) {
        await pause(1);
        isBusy = !snapshot.isInPlace();
      }
      if (isBusy) await readAgain(0);
    }
    for (;;) {
      let text: string | undefined;
      let caught: unknown;
      try {
        text = decode(snapshot);
      } catch (error) {
        caught = error;
      }
      const mayBeHalf = caught !== undefined || (text !== undefined && !isWhole(text));
      if (!mayBeHalf || !isFresh(writingMs) || performance.now() > giveUpAt) {
        if (caught === undefined) return { snapshot, text, isBusy };
        snapshot.close();
        throw caught;
      }
      await readAgain(5);
    }
  }

  /**
   * Text that another program has written to a file that was replaced or removed since it was read, once it is complete;
   * `undefined` if there is none.
   */
  async readLate(snapshot: FileSnapshot, isWhole: (text: string) => boolean): Promise<string | undefined> {
    const giveUpAt = performance.now() + wholeMs;
    for (;;) {
      const bytes = snapshot.readLate();
      if (bytes === undefined || performance.now() > giveUpAt) return undefined;
      try {
        const text = utf8.decode(bytes);
        if (isWhole(text)) return text;
      } catch {
        // The last character may be incomplete.
      }
      await pause(5);
    }
  }

  #open(file: string): FileSnapshot {
    const malformed = (reason: string) => failure("ClientConfigMalformed", { file, reason }, { file });
    try {
      return new FileSnapshot(file, (stats) => {
        if (!stats.isFile()) throw malformed(`it is ${describeFileType(stats)}, not a file`);
        if (stats.size > maximumBytes) throw malformed(describeSize(stats.size, maximumBytes));
      });
    } catch (error) {
      throw describeRefusal(file, error);
    }
  }

  /** Creates the parent folders of a file. Returns the created ones, innermost first. */
  makeFolders(file: string, mode: number): string[] {
    return attempt(file, () => makeFolders(dirname(file), mode));
  }

  /** Deletes empty folders. */
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
      if (lock.isOwn) removeDrafts(file);
      this.#options.onStep?.("locked", file);
      return lock;
    } catch (error) {
      throw describeRefusal(file, error);
    }
  }

  /** Backs up the bytes of a file. Returns the path of the copy. Call `settleBackup` once the file is changed. */
  backUp(file: string, bytes: Uint8Array): string {
    return attempt(file, () => {
      const { backups } = this.#options;
      makeFolders(backups, 0o700);
      const time = new Date().toISOString().replaceAll(":", "-");
      const name = `${backupPrefix(file)}${time}-${randomBytes(2).toString("hex")}-${basename(file)}`;
      const backup = join(backups, name);
      try {
        writeAndClose(openSync(backup, "wx", 0o600), bytes, { mode: 0o600 });
      } catch (error) {
        this.dropBackup(backup);
        throw error;
      }
      this.#options.onStep?.("backedUp", file);
      return backup;
    });
  }

  dropBackup(backup: string): void {
    rmSync(backup, { force: true });
  }

  /** Syncs a backup to disk, and deletes the oldest ones of the same file. */
  settleBackup(file: string, backup: string): void {
    const { backups } = this.#options;
    sync(backup, "r+");
    try {
      const others = readdirSync(backups).filter((other) => other.startsWith(backupPrefix(file)));
      for (const old of others.sort().slice(0, -keptBackups)) rmSync(join(backups, old), { force: true });
    } catch {
      // Another process may be doing the same.
    }
  }

  /** Like `makeDraft`. */
  draft(file: string, text: string, newMode: number, snapshot?: FileSnapshot): Draft {
    return attempt(file, () => {
      const draft = makeDraft(file, text, newMode, snapshot);
      try {
        this.#options.onStep?.("drafted", file);
      } catch (error) {
        draft.discard();
        throw error;
      }
      return draft;
    });
  }

  /** Replaces a file that only Trailblaze writes with a draft. */
  commit(draft: Draft): void {
    attempt(draft.file, () => {
      draft.commit();
      this.#finish(draft.file);
    });
  }

  /** Like `replaceFile`. */
  replace(draft: Draft, snapshot: FileSnapshot, options: { isFolderBusy: boolean }): boolean {
    return attempt(draft.file, () => {
      const isReplaced = replaceFile(draft, snapshot, options);
      if (isReplaced) this.#finish(draft.file);
      return isReplaced;
    });
  }

  /** Like `removeFile`. */
  remove(snapshot: FileSnapshot): boolean {
    return attempt(snapshot.file, () => {
      const isRemoved = removeFile(snapshot, (bytes) => this.backUp(snapshot.file, bytes));
      if (isRemoved) this.#finish(snapshot.file);
      return isRemoved;
    });
  }

  #finish(file: string): void {
    sync(dirname(file), "r");
    this.#options.onStep?.("replaced", file);
  }
}

/** An opened file. The caller must close the snapshot. */
export interface OpenedFile {
  snapshot: FileSnapshot;
  text: string | undefined;
  /** Another program changed it while it was being opened. */
  isBusy: boolean;
}

function decode({ file, bytes }: FileSnapshot): string | undefined {
  try {
    return bytes && utf8.decode(bytes);
  } catch {
    throw failure("ClientConfigMalformed", { file, reason: "it is not UTF-8" }, { file });
  }
}

const megabytes = (bytes: number | bigint) => `${Math.ceil(Number(bytes) / (1 << 20))} MiB`;

const describeSize = (size: bigint, limit: number) =>
  `it has ${megabytes(size)}; the limit is ${megabytes(limit)}`;

const backupPrefix = (file: string) => `${createHash("sha256").update(file).digest("hex").slice(0, 8)}-`;

/** The real path of a folder, whose last segments may not exist. */
function findRealFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    return join(findRealFolder(dirname(folder)), basename(folder));
  }
}
