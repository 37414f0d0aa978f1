import { mkdirSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { attempt, errorCode } from "./file-errors.ts";
import { BusyFileError } from "./write-files.ts";

const refreshMs = 2000;

/** The age after which a lock that is not refreshed is stale, and removed. */
const staleMs = 10_000;

const changeOf = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs;

/** Fails quietly if it is not a lock, or if another process has just removed it. */
const removeFolder = (folder: string) => attempt(() => rmdirSync(folder));

/** Refreshes a lock until it is released, unless another program has taken it. */
function hold(folder: string): () => void {
  let refreshed = changeOf(folder);
  const isOurs = () => changeOf(folder) === refreshed;
  const refresh = () => {
    utimesSync(folder, Date.now() / 1000, Date.now() / 1000);
    refreshed = changeOf(folder);
  };
  // Another process may just have removed it.
  const timer = setInterval(() => isOurs() && attempt(refresh), refreshMs).unref();
  return () => {
    clearInterval(timer);
    if (isOurs()) removeFolder(folder);
  };
}

/**
 * Locks a file by creating the folder `FILE.lock`, like the package proper-lockfile, which some clients use for their own
 * config. Resolves with a function that releases the lock. Rejects with `BusyFileError`, or with a file system error if the
 * folder cannot be created.
 */
export async function lockFile(
  file: string,
  { waitMs = 30_000, signal }: { waitMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<() => void> {
  const folder = `${file}.lock`;
  const startedAt = performance.now();
  for (;;) {
    try {
      mkdirSync(folder);
      return hold(folder);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    if (Date.now() - (changeOf(folder) ?? Date.now()) >= staleMs) removeFolder(folder);
    if (performance.now() - startedAt > waitMs || signal?.aborted)
      throw new BusyFileError(`another program holds the lock ${folder}`);
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40));
  }
}
