import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join, relative, sep } from "node:path";
import { errorCode } from "../files/file-errors.ts";
import { failure, quote } from "../problems/index.ts";

/** Folders that authors do not edit or that are too large to watch. */
const ignoredNames: ReadonlySet<string> = new Set(["node_modules", ".git", ".hg", ".DS_Store"]);
const isIgnored = (name: string): boolean =>
  ignoredNames.has(name) || name.endsWith(".log") || name.endsWith("~");
/** A safety limit, reached for example by watching the home folder. */
const mostFolders = 5000;

export interface WatchOptions {
  /** Absolute paths. Changes in them and below are ignored. */
  except?: readonly string[];
  /** Milliseconds without a change before changes are reported. Default: 100. */
  quietMs?: number;
  /** Milliseconds after which changes are reported in any case. Default: 2000. */
  mostMs?: number;
}

export interface FolderWatcher {
  /** Stops reporting changes. */
  close(): void;
}

/** Watches folders one by one: recursive watching is unreliable and includes node_modules. */
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
        // The folder was deleted or is unreadable.
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
      // A subfolder may be deleted meanwhile, but the root must exist.
      const code = errorCode(error);
      if (folder !== this.#root && (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES")) return;
      const reason = code === "ENOSPC" || code === "EMFILE" ? "the system limit of watches is reached" : code;
      throw failure("InvalidArguments", { reason: `Cannot watch ${quote(folder, 400)}: ${reason}` });
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
    this.#timer = setTimeout(
      () => this.#notify(),
      Math.max(0, Math.min(quietMs, this.#since + mostMs - now)),
    );
  }

  #notify(): void {
    const paths = [...this.#changed].sort();
    this.#changed.clear();
    // Watch new folders before the changes are handled, so that later changes in them are noticed.
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
 * Watches a folder and everything below it, except node_modules, version control and logs. Reports changes in batches,
 * as paths relative to the folder with `/`. Throws `InvalidArguments` if it cannot be watched.
 */
export function watchFolder(
  root: string,
  { except = [], quietMs = 100, mostMs = 2000 }: WatchOptions,
  onChange: (paths: readonly string[]) => void,
): FolderWatcher {
  return new Watching(root, { except, quietMs, mostMs }, onChange);
}
