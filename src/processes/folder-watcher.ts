import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join, relative, sep } from "node:path";
import { errorCode } from "../files/make-folders.ts";
import { failure, quote } from "../problems/index.ts";

/** What no author of a pack edits, and what is too large to watch. */
const ignoredNames: ReadonlySet<string> = new Set(["node_modules", ".git", ".hg", ".DS_Store"]);
const isIgnored = (name: string): boolean =>
  ignoredNames.has(name) || name.endsWith(".log") || name.endsWith("~");
/** A pack has a handful; more is a mistake, as the home folder would be. */
const mostFolders = 5000;

export interface WatchOptions {
  /** Absolute. What lies in it or below makes no change. */
  except?: readonly string[];
  /** Milliseconds without a change after which the changes before are told; default 100. */
  quietMs?: number;
  /** Milliseconds after which they are told all the same; default 2000. */
  mostMs?: number;
}

export interface FolderWatcher {
  /** Nothing is told afterwards. */
  close(): void;
}

/** Watches folders one by one: recursive watching has other faults on every system, and follows into node_modules. */
class Watching implements FolderWatcher {
  readonly #root: string;
  readonly #options: Required<WatchOptions>;
  readonly #onChange: (paths: readonly string[]) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(root: string, options: Required<WatchOptions>, onChange: (paths: readonly string[]) => void) {
    this.#root = root;
    this.#options = options;
    this.#onChange = onChange;
    this.#watchFolders();
  }

  #watchFolders(): void {
    const found = new Set<string>();
    const visit = (folder: string): void => {
      if (found.size >= mostFolders) return;
      found.add(folder);
      if (!this.#watchers.has(folder)) this.#watch(folder);
      let entries: ReturnType<typeof readNames>;
      try {
        entries = readNames(folder);
      } catch {
        // Gone meanwhile, or not ours to read; its watcher goes with it.
        return;
      }
      for (const name of entries) visit(join(folder, name));
    };
    visit(this.#root);
    for (const [folder, watcher] of this.#watchers) {
      if (found.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_event, name) => this.#note(folder, name));
      this.#watchers.set(folder, watcher);
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(folder);
        this.#note(folder, null);
      });
    } catch (error) {
      // A folder that went away while it was looked at is no fault, but the first one must be there.
      const code = errorCode(error);
      if (folder !== this.#root && (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES")) return;
      const reason = code === "ENOSPC" || code === "EMFILE" ? "the system watches no more folders" : code;
      throw failure("InvalidArguments", { reason: `${quote(folder, 400)} cannot be watched: ${reason}` });
    }
  }

  #note(folder: string, name: string | null): void {
    if (name !== null && isIgnored(name)) return;
    const path = name === null ? folder : join(folder, name);
    if (this.#options.except.some((one) => path === one || path.startsWith(one + sep))) return;
    const now = performance.now();
    if (this.#changed.size === 0) this.#since = now;
    this.#changed.add(relative(this.#root, path).split(sep).join("/"));
    clearTimeout(this.#timer);
    const { quietMs, mostMs } = this.#options;
    this.#timer = setTimeout(() => this.#tell(), Math.max(0, Math.min(quietMs, this.#since + mostMs - now)));
  }

  #tell(): void {
    const paths = [...this.#changed].sort();
    this.#changed.clear();
    // Folders that are new are watched before anybody reads them, so that no later change is missed.
    if (statSync(this.#root, { throwIfNoEntry: false })?.isDirectory()) this.#watchFolders();
    this.#onChange(paths);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}

const readNames = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !isIgnored(entry.name))
    .map(({ name }) => name);

/**
 * Tells changes in a folder and all below it, but for node_modules, histories and logs; several that come together are
 * told together, by their paths from the folder with `/`. Throws `InvalidArguments` where it cannot be watched.
 */
export function watchFolder(
  root: string,
  { except = [], quietMs = 100, mostMs = 2000 }: WatchOptions,
  onChange: (paths: readonly string[]) => void,
): FolderWatcher {
  return new Watching(root, { except, quietMs, mostMs }, onChange);
}
