import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** How many sessions' logs are kept. */
const keptSessions = 20;
/** Where their process still runs, this many: one that lives long may have ended most of its sessions. */
const mostFolders = 200;
/** Names the process whose session it is. */
const ownerFile = "pid";

/** Where a user's programs keep what they may lose, by the rules of the system. */
export function findStateDirectory(
  platform: NodeJS.Platform = process.platform,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home: string = homedir(),
): string {
  if (platform === "win32") return environment.LOCALAPPDATA || join(home, "AppData", "Local");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return environment.XDG_STATE_HOME || join(home, ".local", "state");
}

/** The folder of a session's logs, made for this user alone; those of the oldest sessions that are over go. */
export function openLogFolder(
  sessionId: string,
  logDir: string | undefined,
  all: string = join(findStateDirectory(), "trailblaze", "logs"),
): string {
  if (logDir !== undefined) {
    mkdirSync(logDir, { recursive: true, mode: 0o700 });
    return logDir;
  }
  const folder = join(all, sessionId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ownerFile), `${process.pid}\n`, { mode: 0o600 });
  removeOldest(all);
  return folder;
}

/** Whether the process still runs whose session the folder is of. */
function isInUse(folder: string): boolean {
  try {
    const pid = Number(readFileSync(join(folder, ownerFile), "utf8"));
    if (!Number.isInteger(pid) || pid <= 0) return false;
    // Signal 0 is none: it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
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
    rmSync(path, { recursive: true, force: true });
  }
}
