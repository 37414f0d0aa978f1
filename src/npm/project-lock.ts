import { createHash, randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../files/make-folders.ts";
import {
  identifyOwnProcess,
  isSameProcessRunning,
  type ProcessIdentity,
  parseProcessIdentity,
} from "../files/process-identity.ts";

const pollMs = 100;
const noticeMs = 300;
/** A lock that does not say whose it is is being written, or was not finished. */
const unfinishedMs = 10_000;

/** Whose a lock is; `undefined` where it does not say. Throws where there is none. */
function readHolder(file: string): ProcessIdentity | undefined {
  return parseProcessIdentity(readFileSync(file, "utf8"));
}

function isStale(file: string): boolean {
  const holder = readHolder(file);
  if (holder !== undefined) return isSameProcessRunning(holder) === false;
  return Date.now() - statSync(file).mtimeMs > unfinishedMs;
}

/** Takes away a lock whose process is gone. */
function removeStale(file: string): void {
  try {
    if (!isStale(file)) return;
    // Put aside first: another may have taken it away meanwhile, and made its own.
    const aside = `${file}.${randomUUID()}`;
    renameSync(file, aside);
    if (isStale(aside)) rmSync(aside, { force: true });
    else renameSync(aside, file);
  } catch {
    // Released, or taken away by another.
  }
}

/** Makes a lock that says from its first moment whose it is. Gives false where there is one. */
function takeLock(file: string): boolean {
  const draft = `${file}.${randomUUID()}`;
  const text = JSON.stringify(identifyOwnProcess());
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "ENOSYS"].includes(errorCode(error))) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  // The file system has no hard links.
  try {
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Waits until no other process of this user changes a project, and keeps others waiting until released. `undefined` where
 * it takes too long. Throws where no lock can be made. The lock lies in `folder`, which is the user's, never in the project.
 */
export async function lockProject(
  folder: string,
  project: string,
  {
    waitMs,
    signal,
    onWait,
  }: { waitMs: number; signal: AbortSignal | undefined; onWait?: ((what: string) => void) | undefined },
): Promise<(() => void) | undefined> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${createHash("sha256").update(project).digest("hex")}.lock`);
  const startedAt = performance.now();
  let isNoticed = false;
  while (!takeLock(file)) {
    removeStale(file);
    const waited = performance.now() - startedAt;
    if (waited > waitMs || signal?.aborted) return undefined;
    if (!isNoticed && waited > noticeMs) {
      isNoticed = true;
      onWait?.(`${describeHolder(file)}, which is changing the packages of this project`);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return () => rmSync(file, { force: true });
}

function describeHolder(file: string): string {
  try {
    const holder = readHolder(file);
    return holder === undefined ? "another process" : `process ${holder.pid}`;
  } catch {
    return "another process";
  }
}
