import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { findHome } from "../files/make-folders.ts";
import { isRunning } from "../files/process-identity.ts";

/** How many sessions' logs are kept. */
const keptSessions = 20;
/** Where their process still runs, this many: one that lives long may have ended most of its sessions. */
const mostFolders = 200;
/** Names the process whose session it is. */
const ownerFile = "pid";

/** Where a user's programs keep what they may lose, by the rules of the system; `undefined` where there is no such place. */
export function findStateDirectory(
  platform: NodeJS.Platform = process.platform,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home: string | undefined = findHome(),
): string | undefined {
  const inHome = (...path: string[]) => (home === undefined || home === "" ? undefined : join(home, ...path));
  if (platform === "win32") return environment.LOCALAPPDATA || inHome("AppData", "Local");
  if (platform === "darwin") return inHome("Library", "Application Support");
  const { XDG_STATE_HOME } = environment;
  // The rules of XDG: a path that is not absolute is to be ignored.
  return XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : inHome(".local", "state");
}

function findAllLogs(): string | undefined {
  const state = findStateDirectory();
  return state === undefined ? undefined : join(state, "trailblaze", "logs");
}

/**
 * The folder of a session's logs, made for this user alone; those of the oldest sessions that are over go. Throws where
 * one of the user's own cannot be made; where ours cannot, as with a home that is read-only, it is a temporary one.
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
    // No session should fail for want of a place for its logs.
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

/** Whether the process still runs whose session the folder is of. */
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
      // Another session removed it meanwhile.
      return [];
    }
  });
  folders.sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const [index, { path }] of folders.entries()) {
    if (index < keptSessions || (index < mostFolders && isInUse(path))) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It may be another user's, as after a run with other rights.
    }
  }
}
