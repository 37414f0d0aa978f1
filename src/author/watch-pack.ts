import { resolve } from "node:path";
import { findProject } from "../discovery/project.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { hasErrors, type Problem, TrailblazeError } from "../problems/index.ts";
import { watchFolder } from "../processes/folder-watcher.ts";
import type { Session } from "../session/session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { openSession } from "../session.ts";
import type { DetailedReport } from "../validate/validate-target.ts";
import { validateTarget } from "../validate/validate-target.ts";

/** How many starts in a row must change a file before it counts as written by a server. */
const tooOften = 5;
/** How long servers may write after a session was opened. Milliseconds. */
const settlingMs = 500;
/** Files that authors edit, possibly with auto-save, and that servers rarely write. */
const isCode = (path: string): boolean => /\.(?:[cm]?[jt]sx?|ya?ml|md)$/i.test(path);

/**
 * Finds files that a pack's own servers write when they start. Each such change would restart them, endlessly, so these
 * files are ignored.
 */
class OwnWrites {
  readonly #counts = new Map<string, number>();
  readonly #ignored = new Set<string>();
  readonly #onIgnored: (path: string) => void;
  #busyUntil = 0;

  constructor(onIgnored: (path: string) => void) {
    this.#onIgnored = onIgnored;
  }

  opening(): void {
    this.#busyUntil = Number.POSITIVE_INFINITY;
  }

  opened(now: number): void {
    this.#busyUntil = now + settlingMs;
  }

  /** Whether any of the paths counts as a change. `isSource`: whether a file is a source of the pack. */
  counts(paths: readonly string[], now: number, isSource: (path: string) => boolean): boolean {
    const isBusy = now < this.#busyUntil;
    for (const path of paths) {
      if (isCode(path) || isSource(path)) continue;
      const count = isBusy ? (this.#counts.get(path) ?? 0) + 1 : 0;
      this.#counts.set(path, count);
      if (count < tooOften || this.#ignored.has(path)) continue;
      this.#ignored.add(path);
      this.#onIgnored(path);
    }
    return paths.some((path) => !this.#ignored.has(path));
  }
}

/** Events while a pack is watched, in order. */
export type WatchEvent =
  | { type: "validated"; run: number; report: DetailedReport }
  /** The pack could not be validated. */
  | { type: "failed"; run: number; problem: Problem }
  /** Names of tools are sorted. For the first session, `added` is empty. */
  | { type: "opened"; tools: string[]; added: string[]; removed: string[]; problems: readonly Problem[] }
  | { type: "notOpened"; problem: Problem }
  /** A problem occurred in the open session. */
  | { type: "reported"; problem: Problem }
  /** A file changes at every start of a session and is ignored from now on. */
  | { type: "ignored"; path: string };

export interface WatchPackOptions extends SessionOptions {
  strict?: boolean;
  /** Validates once, opens one session, and ends. */
  once?: boolean;
  /** Milliseconds without a change before the changes count. Default: 100. */
  quietMs?: number;
  onEvent?: (event: WatchEvent) => void;
}

/** The state at the end. */
export interface WatchResult {
  /** The number of validations. */
  runs: number;
  /** Whether the last validation succeeded and a session was open. */
  ok: boolean;
  pack: string | null;
  /** Advertised names of the last session, sorted. */
  tools: string[];
  /** Problems of the last validation and of its session. */
  problems: Problem[];
}

const describe = ({ code, message, file, line }: Problem): string =>
  JSON.stringify([code, message, file, line]);

/** Problems of a session that validation has not reported. */
export function newProblems(reported: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const known = new Set(reported.map(describe));
  return problems.filter((problem) => !known.has(describe(problem)));
}

/** A change that can be awaited repeatedly. */
class Change {
  #isPending = false;
  #wake: (() => void) | undefined;
  readonly #onAbort = () => this.#wake?.();

  notify(): void {
    this.#isPending = true;
    this.#wake?.();
  }

  /** Resolves at the next change, immediately if one came since the last call, and when `signal` aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#isPending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", this.#onAbort, { once: true });
      });
      signal.removeEventListener("abort", this.#onAbort);
      this.#wake = undefined;
    }
    this.#isPending = false;
  }
}

/** Holds the current session. It closes the old one before it opens a new one, which may need the same resources. */
class CurrentSession {
  readonly #options: SessionOptions;
  readonly #onEvent: (event: WatchEvent) => void;
  #session: Session | undefined;
  #known: readonly string[] | undefined;

  constructor(options: SessionOptions, onEvent: (event: WatchEvent) => void) {
    this.#options = options;
    this.#onEvent = onEvent;
  }

  async reopen(signal: AbortSignal): Promise<void> {
    await this.close();
    let opened: Session | undefined;
    try {
      opened = await openSession({
        ...this.#options,
        signal,
        onProblem: (problem) => {
          this.#options.onProblem?.(problem);
          // Until the session is open, its own list has the problem.
          if (opened !== undefined && this.#session === opened) this.#onEvent({ type: "reported", problem });
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TrailblazeError)) throw error;
      this.#onEvent({ type: "notOpened", problem: error.problem });
      return;
    }
    this.#session = opened;
    const tools = opened.tools.map(({ name }) => name).sort();
    const known = this.#known ?? tools;
    this.#known = tools;
    this.#onEvent({
      type: "opened",
      tools,
      added: tools.filter((name) => !known.includes(name)),
      removed: known.filter((name) => !tools.includes(name)),
      problems: opened.problems,
    });
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }
}

/** Updates a result with an event. */
function updateResult(result: WatchResult, event: WatchEvent): void {
  if (event.type === "validated") {
    const { ok, pack, problems } = event.report.report;
    Object.assign(result, { runs: event.run, ok, pack, problems: [...problems] });
  } else if (event.type === "failed") {
    Object.assign(result, { runs: event.run, ok: false, problems: [event.problem] });
  } else if (event.type === "opened") {
    result.tools = event.tools;
    result.problems.push(...newProblems(result.problems, event.problems));
  } else if (event.type === "reported") {
    result.problems.push(event.problem);
  } else if (event.type === "notOpened") {
    result.ok = false;
    result.tools = [];
    result.problems.push(event.problem);
  }
}

/**
 * Validates the pack in a folder now and after every change, and keeps a session open: a valid pack gets a new session
 * with new servers; while the pack is invalid, the last session stays open.
 *
 * Trust level: execution. Resolves when `signal` aborts and everything has ended. Rejects with a `TrailblazeError` if
 * the pack is not found (`ProjectNotFound`) or its folder cannot be watched.
 */
export async function watchPack(directory: string, options: WatchPackOptions = {}): Promise<WatchResult> {
  const { cwd = process.cwd(), strict = false, once = false, quietMs, onEvent, ...rest } = options;
  const { signal = new AbortController().signal } = options;
  const port = createNodeDiscoveryPort();
  const { directory: root } = findProject(port, resolve(cwd, directory));
  const result: WatchResult = { runs: 0, ok: false, pack: null, tools: [], problems: [] };
  const note = (event: WatchEvent): void => {
    updateResult(result, event);
    onEvent?.(event);
  };
  const change = new Change();
  const ownWrites = new OwnWrites((path) => note({ type: "ignored", path }));
  const session = new CurrentSession({ ...rest, cwd: root }, note);
  let opening: AbortController | undefined;
  let last: DetailedReport | undefined;
  const onChange = (paths: readonly string[]): void => {
    if (!ownWrites.counts(paths, performance.now(), (path) => last?.texts.has(path) === true)) return;
    change.notify();
    // An opening that is in progress is outdated, and could take as long as its servers.
    opening?.abort();
  };
  const watcher = once ? undefined : watchFolder(root, quietMs === undefined ? {} : { quietMs }, onChange);
  try {
    for (let run = 1; !signal.aborted; run++) {
      let report: DetailedReport;
      try {
        report = await validateTarget(root, { cwd: root, strict });
        last = report;
      } catch (error) {
        if (!(error instanceof TrailblazeError) || once || run === 1) throw error;
        note({ type: "failed", run, problem: error.problem });
        await change.next(signal);
        continue;
      }
      if (signal.aborted) return result;
      note({ type: "validated", run, report });
      if (!hasErrors(report.report.problems)) {
        opening = new AbortController();
        ownWrites.opening();
        await session.reopen(AbortSignal.any([signal, opening.signal]));
        ownWrites.opened(performance.now());
        opening = undefined;
      }
      if (watcher === undefined) return result;
      await change.next(signal);
    }
  } finally {
    watcher?.close();
    await session.close();
  }
  return result;
}
