import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { EntryWatcher, type WatchedEntries } from "../processes/folder-watcher.ts";
import type { Clock } from "../runtime/time-limit.ts";

/** Milliseconds without a change before changes count. */
const quietMs = 500;
/** How long a project may be unusable before that is reported. Milliseconds. */
const keptMs = 30_000;

export interface FollowerOptions {
  clock: Clock;
  /** Applies the project as it is now. Stops early when `superseded` aborts. Rejects if the project cannot be used. */
  apply(superseded: AbortSignal): Promise<void>;
  /** What to watch. Rejects if the project cannot be read; then the same is watched as before. */
  findEntries(): Promise<WatchedEntries>;
  report(problem: Problem): void;
  /** Called with the reported problem of an unusable project when it can be used again. */
  withdraw(problem: Problem): void;
}

/** Applies changes of a project, one after the other, when no further change has come for a while. */
export class ProjectFollower {
  readonly #options: FollowerOptions;
  readonly #watcher: EntryWatcher;
  #entries: WatchedEntries = new Map();
  #cancelQuiet = () => {};
  #cancelKept: (() => void) | undefined;
  /** The application in progress. */
  #applying: AbortController | undefined;
  #isDue = false;
  #hasBegun = false;
  #isClosed = false;
  #hasWatchFault = false;
  /** Why the project could last not be used, and the problem if that was reported. */
  #fault: unknown;
  #reported: Problem | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#watcher = new EntryWatcher(() => this.#note());
  }

  /** Starts watching. Changes are not applied yet. */
  async start(): Promise<void> {
    await this.#watch();
  }

  /** Applies changes from now on, and those since `start`. */
  async begin(): Promise<void> {
    await this.#watch();
    this.#hasBegun = true;
    if (this.#isDue) this.#request();
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher.close();
    this.#cancelQuiet();
    this.#cancelKept?.();
    this.#applying?.abort();
  }

  async #watch(): Promise<void> {
    this.#entries = await this.#options.findEntries().catch(() => this.#entries);
    const fault = this.#watcher.watch(this.#entries);
    if (fault === undefined || this.#hasWatchFault) return;
    this.#hasWatchFault = true;
    this.#options.report(createProblem("ChangeNotApplied", { cause: "watch", reason: fault }));
  }

  #note(): void {
    if (this.#isClosed) return;
    this.#cancelQuiet();
    this.#cancelQuiet = this.#options.clock.after(quietMs, () => this.#request());
  }

  #request(): void {
    this.#isDue = true;
    this.#applying?.abort();
    if (this.#hasBegun && this.#applying === undefined) void this.#applyAll();
  }

  async #applyAll(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      this.#applying = new AbortController();
      const { signal } = this.#applying;
      // Before the project is read, so that later changes in new folders are noticed.
      await this.#watch();
      try {
        await this.#options.apply(signal);
        this.#cancelKept?.();
        this.#cancelKept = undefined;
        if (this.#reported !== undefined) this.#options.withdraw(this.#reported);
        this.#reported = undefined;
        await this.#watch();
      } catch (error) {
        if (signal.aborted || this.#isClosed) continue;
        this.#fault = error;
        this.#cancelKept ??= this.#options.clock.after(keptMs, () => this.#reportFault());
      }
    }
    this.#applying = undefined;
  }

  /** Reports a project that has stayed unusable. */
  #reportFault(): void {
    const error = this.#fault;
    const reason = error instanceof Error ? error.message : String(error);
    const isUnlocked = error instanceof TrailblazeError && error.code === "LockMissing";
    this.#reported = isUnlocked
      ? error.problem
      : createProblem("ChangeNotApplied", { cause: "project", reason });
    this.#options.report(this.#reported);
  }
}
