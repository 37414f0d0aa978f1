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
import { identifyOwnProcess, isSameProcessRunning, parseProcessIdentity } from "./process-identity.ts";

/** A lock on a file that other programs may want too. */
export interface FileLock {
  /** False where another program's lock was left in its place, and the file is edited beside it. */
  readonly isOwn: boolean;
  /** False where another program took it, because this process did not refresh it for `staleMs`. */
  isHeld(): boolean;
  /** Shows other programs that it is still in use. A timer does so too, while this process waits. */
  refresh(): void;
  release(): void;
}

export interface LockOptions {
  /** Folder in which the holders of locks are noted; without it, none is. */
  holders?: string | undefined;
  /** How long to wait for a holder that is known to be running. */
  waitMs?: number | undefined;
  /** How long to wait for a holder that is unknown and gives no sign of life. */
  graceMs?: number | undefined;
  /** A lock of an unknown holder that was not refreshed for this long is taken away. */
  staleMs?: number | undefined;
  /** Gets told what is being waited for, once the wait is long enough for a person to notice. */
  onWait?: ((what: string) => void) | undefined;
  /** What the holder is doing, for `onWait`; default: "holds the lock" and its path. */
  purpose?: string | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/** Thrown where a lock stays with another process. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

const noticeMs = 300;
const refreshMs = 2000;

/** Tells a lock from one that another process made at the same place. Refreshing it makes it another one. */
const idOf = ({ ino, mtimeNs }: BigIntStats) => `${ino}-${mtimeNs}`;

const look = (folder: string) => statSync(folder, { bigint: true, throwIfNoEntry: false });

/** Removes a lock that was looked at before, unless it is another process's by now. */
function takeAway(folder: string, id: string): void {
  // Renaming it first lets one process win, and shows whether what was taken is what was looked at.
  const aside = `${folder}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(folder, aside);
  } catch {
    return;
  }
  try {
    const stats = look(aside);
    if (stats === undefined || idOf(stats) !== id) throw new Error("it is another process's by now");
    rmdirSync(aside);
  } catch {
    // It is no lock, or a lock that is in use.
    renameSync(aside, folder);
  }
}

/** The notes of who holds which lock. They lie elsewhere: a lock is an empty folder to other programs. */
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
      writeFileSync(file, JSON.stringify(identifyOwnProcess()), { mode: 0o600 });
    } catch {
      // On a full disk, for example. The lock then counts as an unknown process's.
      this.forget(lock, id);
    }
  }

  find(lock: string, id: string) {
    const file = this.#fileOf(lock, id);
    try {
      return file === undefined ? undefined : parseProcessIdentity(readFileSync(file, "utf8"));
    } catch {
      return undefined;
    }
  }

  forget(lock: string, id: string): void {
    const file = this.#fileOf(lock, id);
    try {
      if (file !== undefined) rmSync(file, { force: true });
    } catch {
      // A part of the path is no folder, so there is none.
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
      // It was taken away between the look and now.
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
 * Locks a file by making the folder `FILE.lock`, as the package proper-lockfile does, and with it clients that rewrite
 * their own config. A lock of a process that is gone is taken away at once. A lock of an unknown holder is waited for, and
 * left alone after `graceMs`: the file is edited beside it. Rejects with `LockHeldError`, or with what the system says where
 * the folder cannot be made.
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
        takeAway(folder, id);
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
