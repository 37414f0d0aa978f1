import { type FSWatcher, readdirSync, type Stats, statSync, watch } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { errorCode } from "../files/file-errors.ts";
import { failure } from "../problems/index.ts";

export type WatchedEntries = ReadonlyMap<string, (name: string) => boolean>;

const identify = ({ dev, ino }: Stats): string => `${dev}:${ino}`;
const statsOf = (path: string) => statSync(path, { throwIfNoEntry: false });

/** Watches entries of folders, not what is below them. */
export class EntryWatcher {
  readonly #onChange: (path: string) => void;
  readonly #persistent: boolean;
  readonly #watched = new Map<string, { identity: string; watcher: FSWatcher }>();
  #entries: WatchedEntries = new Map();
  #isClosed = false;

  /** `persistent`: whether it keeps the process alive. */
  constructor(onChange: (path: string) => void, { persistent = false } = {}) {
    this.#onChange = onChange;
    this.#persistent = persistent;
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
    const stats = statsOf(folder);
    const identity = stats?.isDirectory() ? identify(stats) : undefined;
    // A watch belongs to the folder that was there, even after another has its path.
    if (this.#watched.get(folder)?.identity === identity) return undefined;
    this.#forget(folder);
    if (identity === undefined) return undefined;
    try {
      const options = { persistent: this.#persistent };
      const watcher = watch(folder, options, (_event, name) => this.#note(folder, name));
      this.#watched.set(folder, { identity, watcher });
      watcher.on("error", () => {
        this.#forget(folder);
        this.#onChange(folder);
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
    const isItself = name === basename(folder) && statsOf(join(folder, name)) === undefined;
    if (name === null || isItself) this.#onChange(folder);
    else if (this.#entries.get(folder)?.(name)) this.#onChange(join(folder, name));
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

/** Folders that authors do not edit or that are too large to watch. */
const ignoredNames: ReadonlySet<string> = new Set(["node_modules", ".git", ".hg", ".DS_Store"]);
const isEdited = (name: string): boolean =>
  !(ignoredNames.has(name) || name.endsWith(".log") || name.endsWith("~"));
/** Milliseconds without a change before changes are reported. */
const quietMs = 100;

/**
 * A folder and those below it, one by one: recursive watching is unreliable and includes node_modules. `note` gets what is in
 * them.
 */
function findFolders(root: string, note?: (folder: string, name: string) => void): WatchedEntries {
  const found = new Map<string, typeof isEdited>();
  const visit = (folder: string): void => {
    try {
      const entries = readdirSync(folder, { withFileTypes: true });
      found.set(folder, isEdited);
      for (const entry of entries) {
        note?.(folder, entry.name);
        if (entry.isDirectory() && isEdited(entry.name)) visit(join(folder, entry.name));
      }
    } catch {
      // The folder was deleted or is unreadable.
    }
  };
  visit(root);
  return found;
}

/**
 * Watches a folder and everything below it, except node_modules, version control and logs. Reports changes in batches, as paths
 * relative to the folder with `/`. Throws `InvalidArguments` if it cannot be watched.
 */
export function watchFolder(root: string, onChange: (paths: readonly string[]) => void): { close(): void } {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** Returns whether it is news. */
  const add = (path: string) => {
    const { size } = changed;
    return changed.add(relative(root, path).split(sep).join("/")).size > size;
  };
  const notify = () => {
    // Watch new folders before the changes are handled, so that later changes in them are noticed. What is in them had no event.
    if (statsOf(root)?.isDirectory()) {
      folders = findFolders(root, (folder, name) => folders.has(folder) || add(join(folder, name)));
      watcher.watch(folders);
    }
    const paths = [...changed].sort();
    changed.clear();
    onChange(paths);
  };
  const note = (path: string) => {
    // Otherwise, a file that changes all the time would put off the report of others endlessly.
    if (!add(path)) return;
    clearTimeout(timer);
    timer = setTimeout(notify, quietMs);
  };
  const watcher = new EntryWatcher(note, { persistent: true });
  let folders = findFolders(root);
  const fault = folders.size === 0 ? `cannot read ${root}` : watcher.watch(folders);
  if (fault !== undefined) {
    watcher.close();
    throw failure("InvalidArguments", { reason: fault });
  }
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
