import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { findUserFolder } from "../files/user-folders.ts";
import { failure } from "../problems/index.ts";

/** How many sessions' logs are kept. */
const keptSessions = 20;
/** Logs that are younger are kept, too, because their session may still run. */
const keptMs = 24 * 60 * 60 * 1000;

function findAllLogs(): string | undefined {
  const state = findUserFolder("state");
  return state === undefined ? undefined : join(state, "trailblaze", "logs");
}

/** Removes all but the latest folders, as far as it may. */
function removeOldest(all: string): void {
  const folders = readdirSync(all).map((name) => {
    const path = join(all, name);
    // Another session may have removed it meanwhile.
    return { path, mtimeMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  folders.sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const { path, mtimeMs } of folders.slice(keptSessions)) {
    if (Date.now() - mtimeMs < keptMs) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It may belong to another user.
    }
  }
}

/**
 * Creates the folder of a session's logs, readable only by this user, and removes those of the oldest sessions. Throws if a
 * folder of the user's choice cannot be created; instead of the default one, it uses a temporary folder.
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
    if (all !== undefined) {
      const folder = join(all, sessionId);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      removeOldest(all);
      return folder;
    }
  } catch {
    // Logs are optional: a missing folder must not fail the session.
  }
  return mkdtempSync(join(tmpdir(), "trailblaze-logs-"));
}

/** Names of log files, one per key. */
export class LogFiles {
  readonly #names = new Map<string, string>();

  /** The same name for the same key; labels of other keys that map to it are numbered. */
  nameFor(key: string, label: string): string {
    const existing = this.#names.get(key);
    if (existing !== undefined) return existing;
    // Fits every file system; some of them ignore case.
    const base = label.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 200);
    const used = new Set(Array.from(this.#names.values(), (name) => name.toLowerCase()));
    let name = `${base}.log`;
    for (let number = 2; used.has(name.toLowerCase()); number++) name = `${base}-${number}.log`;
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
