import type { SessionConfig } from "../config/session-config.ts";
import { failure } from "../problems/index.ts";
import { openLogFolder } from "../processes/log-folder.ts";

/** Whatever file systems take; labels may be three times as long. */
const longestName = 200;

/** Names of log files, one for each that writes. */
export class LogFiles {
  readonly #names = new Map<string, string>();
  /** In small letters: not every system tells cases apart. */
  readonly #taken = new Set<string>();

  /** The same name for the same key. Labels that come to one name, as what is no letter of ASCII does, are numbered. */
  nameFor(key: string, label: string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const base = label.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, longestName);
    let name = `${base}.log`;
    for (let number = 2; this.#taken.has(name.toLowerCase()); number++) name = `${base}-${number}.log`;
    this.#taken.add(name.toLowerCase());
    this.#names.set(key, name);
    return name;
  }
}

/** The folder of a session's logs. Throws `TrailblazeError` `InvalidConfig` where the config's cannot be made. */
export function openLogs(sessionId: string, { text, logDir }: SessionConfig): string {
  try {
    return openLogFolder(sessionId, logDir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = `the folder of \`logDir\` cannot be made: ${code ?? message}`;
    throw failure(
      "InvalidConfig",
      { reason },
      { ...(text === undefined ? {} : { file: text.file }), path: ["logDir"] },
    );
  }
}
