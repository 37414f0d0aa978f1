import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { findUserFolder } from "../files/user-folders.ts";
import { failure } from "../problems/index.ts";

/** How many sessions' logs are kept. */
const keptSessions = 20;
/** The limit for folders of processes that still run: a long-lived process may have ended most of its sessions. */
const mostFolders = 200;
/** Holds the id of the session's process. */
const ownerFile = "pid";

function findAllLogs(): string | undefined {
  const state = findUserFolder("state");
  return state === undefined ? undefined : join(state, "trailblaze", "logs");
}

/**
 * Creates the folder of a session's logs, readable only by this user, and removes the oldest logs of ended sessions.
 * Throws if a folder of the user's choice cannot be created; instead of the default one, it uses a temporary folder.
 */
export function openLogFolder(
  sessionId: string,
  logDir: string | undefined,
  all: string | undefined = findAllLogs(),
): string {
  if (logDir !== undefined) {
    mkdirSync(logDir, { recursive: true, mode: 0o700 });
    return logDir;
  }
  try {
    if (all !== undefined) return makeFolder(all, sessionId);
  } catch {
    // Logs are optional: a missing folder must not fail the session.
  }
  return mkdtempSync(join(tmpdir(), "trailblaze-logs-"));
}

function makeFolder(all: string, sessionId: string): string {
  const folder = join(all, sessionId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ownerFile), `${process.pid}\n`, { mode: 0o600 });
  removeOldest(all);
  return folder;
}

/** Whether the session's process still runs. */
function isInUse(folder: string): boolean {
  try {
    return isRunning(Number(readFileSync(join(folder, ownerFile), "utf8")));
  } catch {
    return false;
  }
}

function removeOldest(all: string): void {
  const folders = readdirSync(all).flatMap((name) => {
    const path = join(all, name);
    try {
      const { mtimeMs } = statSync(path);
      return [{ path, mtimeMs }];
    } catch {
      // Removed by another session meanwhile.
      return [];
    }
  });
  folders.sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const [index, { path }] of folders.entries()) {
    if (index < keptSessions || (index < mostFolders && isInUse(path))) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It may belong to another user.
    }
  }
}

/** Whether a process exists, even another user's. False for invalid ids: 0 and below are groups. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    // Signal 0 only checks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Fits every file system; labels may be three times as long. */
const longestName = 200;

/** Names of log files, one per key. */
export class LogFiles {
  readonly #names = new Map<string, string>();
  /** In lower case, because some file systems ignore case. */
  readonly #used = new Set<string>();

  /** The same name for the same key. Labels that map to the same name are numbered. */
  nameFor(key: string, label: string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const base = label.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, longestName);
    let name = `${base}.log`;
    for (let number = 2; this.#used.has(name.toLowerCase()); number++) name = `${base}-${number}.log`;
    this.#used.add(name.toLowerCase());
    this.#names.set(key, name);
    return name;
  }
}

/** Creates the folder of a session's logs. Throws `TrailblazeError` `InvalidConfig` if it cannot be created. */
export function openLogs(sessionId: string, { text, logDir }: SessionConfig): string {
  try {
    return openLogFolder(sessionId, logDir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = `cannot create the folder of \`logDir\`: ${code ?? message}`;
    throw failure("InvalidConfig", { reason }, { file: text?.file, path: ["logDir"] });
  }
}
