import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmdirSync, statSync } from "node:fs";
import { errorCode } from "./file-facts.ts";

/** A lock on a file that other programs may want too. */
export interface FileLock {
  /** Whether nobody took it for abandoned; false only where this process slept for longer than `staleMs`. */
  isHeld(): boolean;
  release(): void;
}

export interface LockOptions {
  /** How long to wait for another holder. */
  waitMs?: number;
  /** A lock as old as this was left behind by a process that is gone. */
  staleMs?: number;
}

/** Thrown where a lock stays with somebody else. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

function takeAway(folder: string, staleMs: number): void {
  const { mtimeMs } = statSync(folder);
  if (Date.now() - mtimeMs < staleMs) return;
  // Renaming it first lets one process win, and shows whether what was taken is what was looked at.
  const aside = `${folder}.${randomBytes(6).toString("hex")}`;
  renameSync(folder, aside);
  try {
    if (statSync(aside).mtimeMs !== mtimeMs) throw new Error("it is another's by now");
    rmdirSync(aside);
  } catch {
    renameSync(aside, folder);
  }
}

/**
 * Locks a file by making the folder `FILE.lock`, as the package proper-lockfile does, and with it clients that rewrite
 * their own config. Rejects with `LockHeldError`, or with what the system says where the folder cannot be made.
 */
export async function lockFile(
  file: string,
  { waitMs = 10_000, staleMs = 10_000 }: LockOptions = {},
): Promise<FileLock> {
  const folder = `${file}.lock`;
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    try {
      takeAway(folder, staleMs);
    } catch {
      // Released or taken away by another meanwhile; or it is no lock, and stays.
    }
    if (performance.now() > giveUpAt) throw new LockHeldError(`another program holds the lock ${folder}`);
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40));
  }
  const made = statSync(folder);
  const isHeld = () => {
    const now = statSync(folder, { throwIfNoEntry: false });
    return now?.ino === made.ino && now.mtimeMs === made.mtimeMs;
  };
  return {
    isHeld,
    release() {
      if (!isHeld()) return;
      try {
        rmdirSync(folder);
      } catch {
        // It becomes stale.
      }
    },
  };
}
