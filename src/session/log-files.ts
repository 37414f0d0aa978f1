import type { SessionConfig } from "../config/session-config.ts";
import { failure } from "../problems/index.ts";
import { openLogFolder } from "../processes/log-folder.ts";

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
