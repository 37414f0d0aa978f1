import { mkdirSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { errorCode } from "./file-errors.ts";

/** A lock on a file that other programs may also lock. */
export interface FileLock {
  /** False if another program took the lock, because this process did not refresh it for `staleMs`. */
  isHeld(): boolean;
  release(): void;
}

export interface LockOptions {
  /** The timeout of waiting, in milliseconds. */
  waitMs?: number | undefined;
  /** The age after which a lock that is not refreshed is stale and removed, in milliseconds. */
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

const look = (folder: string) => statSync(folder, { bigint: true, throwIfNoEntry: false });

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not a lock, or another process has just removed it.
  }
}

function hold(folder: string): FileLock {
  /** Distinguishes locks at the same path. Refreshing a lock changes it. */
  const readId = () => {
    const stats = look(folder);
    return stats && `${stats.ino}-${stats.mtimeNs}`;
  };
  let id = readId();
  const isHeld = () => id !== undefined && readId() === id;
  const refresh = () => {
    if (!isHeld()) return;
    try {
      const now = Date.now() / 1000;
      utimesSync(folder, now, now);
      id = readId();
    } catch {
      // Another process has just removed it.
    }
  };
  const timer = setInterval(refresh, refreshMs);
  timer.unref();
  return {
    isHeld,
    release() {
      clearInterval(timer);
      if (isHeld()) removeFolder(folder);
    },
  };
}

/**
 * Locks a file by creating the folder `FILE.lock`, like the package proper-lockfile, which some clients use for their own
 * config. Removes a lock that was not refreshed for `staleMs`. Rejects with `LockHeldError`, or with a file system error if the
 * folder cannot be created.
 */
export async function lockFile(
  file: string,
  {
    waitMs = 30_000,
    staleMs = 10_000,
    onWait,
    purpose = `holds the lock ${file}.lock`,
    signal,
  }: LockOptions = {},
): Promise<FileLock> {
  const folder = `${file}.lock`;
  const startedAt = performance.now();
  let isNoticed = false;
  for (;;) {
    try {
      mkdirSync(folder);
      return hold(folder);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    const stats = look(folder);
    if (stats !== undefined && Date.now() - Number(stats.mtimeMs) >= staleMs) removeFolder(folder);
    const waited = performance.now() - startedAt;
    if (waited > waitMs || signal?.aborted)
      throw new LockHeldError(`another program holds the lock ${folder}`);
    if (!isNoticed && waited > noticeMs) {
      isNoticed = true;
      onWait?.(`another program, which ${purpose}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40));
  }
}
