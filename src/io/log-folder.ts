import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** How many sessions' logs are kept. */
const keptSessions = 20;

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

/** The folder of a session's logs, made for this user alone; those of the oldest sessions go. */
export function openLogFolder(sessionId: string, logDir: string | undefined): string {
  if (logDir !== undefined) {
    mkdirSync(logDir, { recursive: true, mode: 0o700 });
    return logDir;
  }
  const all = join(findStateDirectory(), "trailblaze", "logs");
  const folder = join(all, sessionId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeOldest(all);
  return folder;
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
  for (const { path } of folders.slice(keptSessions)) {
    rmSync(path, { recursive: true, force: true });
  }
}
