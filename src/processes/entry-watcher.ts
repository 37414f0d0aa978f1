import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { basename, join } from "node:path";
import { errorCode } from "../files/file-errors.ts";

/** Whether a change of a folder's entry counts, by the folder's absolute path. */
export type WatchedEntries = ReadonlyMap<string, (name: string) => boolean>;

const identify = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Watches entries of folders, not what is below them. It keeps no process alive. */
export class EntryWatcher {
  readonly #onChange: () => void;
  readonly #watched = new Map<string, { identity: string; watcher: FSWatcher }>();
  #entries: WatchedEntries = new Map();
  #isClosed = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /**
   * Watches these entries instead, and folders that were deleted and created again. Ignores folders that do not exist. Returns
   * why a folder cannot be watched, for the first one.
   */
  watch(entries: WatchedEntries): string | undefined {
    if (this.#isClosed) return undefined;
    this.#entries = entries;
    for (const folder of this.#watched.keys()) {
      if (!entries.has(folder)) this.#forget(folder);
    }
    let fault: string | undefined;
    for (const folder of entries.keys()) fault ??= this.#watchFolder(folder);
    return fault;
  }

  #watchFolder(folder: string): string | undefined {
    const stats = statSync(folder, { throwIfNoEntry: false });
    const identity = stats?.isDirectory() ? identify(stats) : undefined;
    // A watch belongs to the folder that was there, even after another has its path.
    if (this.#watched.get(folder)?.identity === identity) return undefined;
    this.#forget(folder);
    if (identity === undefined) return undefined;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#note(folder, name));
      this.#watched.set(folder, { identity, watcher });
      watcher.on("error", () => {
        this.#forget(folder);
        this.#onChange();
      });
    } catch (error) {
      const code = errorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      const reason = code === "ENOSPC" || code === "EMFILE" ? "the system limit of watches is reached" : code;
      return `cannot watch ${folder}: ${reason}`;
    }
    return undefined;
  }

  #note(folder: string, name: string | null): void {
    // The deletion of the folder itself has its own name.
    const isItself =
      name === basename(folder) && statSync(join(folder, name), { throwIfNoEntry: false }) === undefined;
    if (name === null || isItself || this.#entries.get(folder)?.(name)) this.#onChange();
  }

  #forget(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }

  close(): void {
    this.#isClosed = true;
    for (const folder of [...this.#watched.keys()]) this.#forget(folder);
  }
}
