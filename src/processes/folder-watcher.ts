import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { attempt, errorCode } from "../files/file-errors.ts";
import { failure } from "../problems/index.ts";

export type WatchedEntries = ReadonlyMap<string, (name: string) => boolean>;

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
    const identity = stats?.isDirectory() ? `${stats.dev}:${stats.ino}` : undefined;
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
 * Watches a folder and everything below it, except node_modules, version control and logs. Reports changes in batches, as paths
 * relative to the folder with `/`. Throws `InvalidArguments` if it cannot be watched.
 */
export function watchFolder(root: string, onChange: (paths: readonly string[]) => void): { close(): void } {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let folders: WatchedEntries | undefined;
  /** Returns whether it is news. */
  const add = (path: string) => {
    const { size } = changed;
    return changed.add(relative(root, path).split(sep).join("/")).size > size;
  };
  /** Watches the folders that there are, one by one: recursive watching is unreliable and includes node_modules. */
  const watchAll = (): string | undefined => {
    const found = new Map<string, typeof isEdited>();
    const visit = (folder: string): void => {
      const entries = attempt(() => readdirSync(folder, { withFileTypes: true }));
      // The folder was deleted or is unreadable.
      if (entries === undefined) return;
      found.set(folder, isEdited);
      for (const entry of entries) {
        const path = join(folder, entry.name);
        // What is in a new folder had no event.
        if (folders?.has(folder) === false) add(path);
        if (entry.isDirectory() && isEdited(entry.name)) visit(path);
      }
    };
    visit(root);
    if (found.size === 0) return `cannot read ${root}`;
    folders = found;
    return watcher.watch(found);
  };
  const notify = () => {
    // Watch new folders before the changes are handled, so that later changes in them are noticed.
    watchAll();
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
  const fault = watchAll();
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
