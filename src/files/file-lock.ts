import { createHash, randomBytes } from "node:crypto";
import {
  type BigIntStats,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode, makeFolders } from "./make-folders.ts";
import { identifyProcess, isSameProcessRunning, readProcessIdentity } from "./process-identity.ts";

/** A lock on a file that other programs may also lock. */
export interface FileLock {
  /** False if another program's lock was ignored. */
  readonly isOwn: boolean;
  /** False if another program took the lock, because this process did not refresh it for `staleMs`. */
  isHeld(): boolean;
  /** Marks the lock as in use. A timer also does this while the event loop runs. */
  refresh(): void;
  release(): void;
}

export interface LockOptions {
  /** Folder for the identities of lock holders; without it, they are not recorded. */
  holders?: string | undefined;
  /** The timeout of waiting for a running holder, in milliseconds. */
  waitMs?: number | undefined;
  /** The timeout of waiting for an unknown holder that does not refresh the lock, in milliseconds. */
  graceMs?: number | undefined;
  /** The age after which an unknown holder's lock is stale and removed, in milliseconds. */
  staleMs?: number | undefined;
  /** Called with the holder once the wait is noticeable. */
  onWait?: ((what: string) => void) | undefined;
  /** The activity of the holder, for `onWait`; default: "holds the lock" and its path. */
  purpose?: string | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/** Thrown if another process keeps the lock. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

const noticeMs = 300;
const refreshMs = 2000;

/** Distinguishes locks at the same path. Refreshing a lock changes its id. */
const idOf = ({ ino, mtimeNs }: BigIntStats) => `${ino}-${mtimeNs}`;

const look = (folder: string) => statSync(folder, { bigint: true, throwIfNoEntry: false });

/** Removes a lock with this id, unless another process has replaced it. */
function removeLock(folder: string, id: string): void {
  // Only one process can rename it, and its id can be checked afterwards.
  const aside = `${folder}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(folder, aside);
  } catch {
    return;
  }
  try {
    const stats = look(aside);
    if (stats === undefined || idOf(stats) !== id) throw new Error("another process has replaced the lock");
    rmdirSync(aside);
  } catch {
    // It is not a lock, or it is in use.
    renameSync(aside, folder);
  }
}

/** Records the holders of locks in a separate folder, because other programs expect locks to be empty folders. */
class Holders {
  readonly #folder: string | undefined;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  #fileOf(lock: string, id: string): string | undefined {
    const name = createHash("sha256").update(`${lock}\0${id}`).digest("hex");
    return this.#folder && join(this.#folder, `${name}.holder`);
  }

  note(lock: string, id: string): void {
    const file = this.#fileOf(lock, id);
    if (file === undefined) return;
    try {
      makeFolders(this.#folder ?? "", 0o700);
      writeFileSync(file, JSON.stringify(identifyProcess()), { mode: 0o600 });
    } catch {
      // For example, the disk is full. The lock has an unknown holder then.
      this.forget(lock, id);
    }
  }

  find(lock: string, id: string) {
    const file = this.#fileOf(lock, id);
    try {
      return file === undefined ? undefined : readProcessIdentity(JSON.parse(readFileSync(file, "utf8")));
    } catch {
      return undefined;
    }
  }

  forget(lock: string, id: string): void {
    const file = this.#fileOf(lock, id);
    try {
      if (file !== undefined) rmSync(file, { force: true });
    } catch {
      // A part of the path is not a folder, so there is no record.
    }
  }
}

function hold(folder: string, holders: Holders): FileLock {
  let id = "";
  let refreshedAt = 0;
  const note = () => {
    const stats = look(folder);
    if (stats === undefined) return;
    const before = id;
    id = idOf(stats);
    if (before === id) return;
    holders.note(folder, id);
    if (before !== "") holders.forget(folder, before);
  };
  note();
  refreshedAt = performance.now();
  const isHeld = () => {
    const now = look(folder);
    return now !== undefined && idOf(now) === id;
  };
  const refresh = () => {
    if (performance.now() - refreshedAt < refreshMs || !isHeld()) return;
    try {
      const now = Date.now() / 1000;
      utimesSync(folder, now, now);
      note();
      refreshedAt = performance.now();
    } catch {
      // Another process has just removed it.
    }
  };
  const timer = setInterval(refresh, refreshMs);
  timer.unref();
  return {
    isOwn: true,
    isHeld,
    refresh,
    release() {
      clearInterval(timer);
      if (isHeld()) {
        try {
          rmdirSync(folder);
        } catch {
          // It becomes stale.
        }
      }
      holders.forget(folder, id);
    },
  };
}

/**
 * Locks a file by creating the folder `FILE.lock`, like the package proper-lockfile, which some clients use for their own
 * config. Removes the lock of a process that has exited. Waits for an unknown holder, but ignores its lock after `graceMs`.
 * Rejects with `LockHeldError`, or with a file system error if the folder cannot be created.
 */
export async function lockFile(
  file: string,
  {
    holders: notes,
    waitMs = 30_000,
    graceMs = 2000,
    staleMs = 10_000,
    onWait,
    purpose = `holds the lock ${file}.lock`,
    signal,
  }: LockOptions = {},
): Promise<FileLock> {
  const folder = `${file}.lock`;
  const holders = new Holders(notes);
  const startedAt = performance.now();
  let seen: { id: string; at: number } | undefined;
  let isNoticed = false;
  for (;;) {
    try {
      mkdirSync(folder);
      return hold(folder, holders);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    const now = performance.now();
    const stats = look(folder);
    if (stats !== undefined) {
      const id = idOf(stats);
      if (seen?.id !== id) seen = { id, at: now };
      const holder = holders.find(folder, id);
      const isRunning = holder && isSameProcessRunning(holder);
      const isStale = isRunning !== true && Date.now() - Number(stats.mtimeMs) >= staleMs;
      if (isRunning === false || isStale) {
        removeLock(folder, id);
        holders.forget(folder, id);
      } else if (isRunning === undefined && now - seen.at >= graceMs) {
        return { isOwn: false, isHeld: () => true, refresh() {}, release() {} };
      }
      const name = isRunning === true ? `process ${holder?.pid}` : "another program";
      if (now - startedAt > waitMs || signal?.aborted)
        throw new LockHeldError(`${name} holds the lock ${folder}`);
      if (!isNoticed && now - startedAt > noticeMs) {
        isNoticed = true;
        onWait?.(`${name}, which ${purpose}`);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40));
  }
}
