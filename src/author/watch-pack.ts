import { once } from "node:events";
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

/** How long servers may write after a session was opened. Milliseconds. */
const settlingMs = 500;
/** Files that authors edit, and that servers rarely write. */
const isCode = (path: string): boolean => /^trailblaze[./]|\.(?:[cm]?[jt]sx?|ya?ml|md)$/i.test(path);

/** Events while a pack is watched, in order. */
export type WatchEvent =
  | { type: "validated"; run: number; report: DetailedReport }
  /** Names of tools are sorted. For the first session, `added` is empty. */
  | { type: "opened"; tools: string[]; added: string[]; removed: string[]; problems: readonly Problem[] }
  | { type: "notOpened"; problem: Problem }
  /** The pack could not be validated, or a problem occurred in the open session. */
  | { type: "reported"; problem: Problem };

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

/** Problems of a session that validation has not reported. */
export function newProblems(reported: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const describe = ({ code, message, file, line }: Problem) => JSON.stringify([code, message, file, line]);
  const known = new Set(reported.map(describe));
  return problems.filter((problem) => !known.has(describe(problem)));
}

/** A pack in a folder: its last validation, and the session that is open over it. */
class WatchedPack {
  readonly result: WatchResult = { runs: 0, ok: false, pack: null, tools: [], problems: [] };
  readonly #options: WatchPackOptions & { cwd: string };
  #report: DetailedReport | undefined;
  #session: Session | undefined;
  #known: readonly string[] | undefined;
  /** While servers start and shortly after, what they write to their pack would restart them, endlessly. */
  #busyUntil = 0;

  constructor(options: WatchPackOptions & { cwd: string }) {
    this.#options = options;
  }

  /** Whether any of the paths counts as a change. */
  counts(paths: readonly string[]): boolean {
    const isSource = (path: string) => isCode(path) || this.#report?.texts.has(path) === true;
    return performance.now() > this.#busyUntil || paths.some(isSource);
  }

  /** Validates, and opens a new session if the pack is valid. */
  async update(signal: AbortSignal): Promise<void> {
    const { cwd, strict = false, once: isOnce, onEvent } = this.#options;
    const { result } = this;
    const run = ++result.runs;
    try {
      this.#report = await validateTarget(cwd, { cwd, strict });
    } catch (error) {
      if (!(error instanceof TrailblazeError) || isOnce || run === 1) throw error;
      Object.assign(result, { ok: false, problems: [error.problem] });
      onEvent?.({ type: "reported", problem: error.problem });
      return;
    }
    const { ok, pack, problems } = this.#report.report;
    Object.assign(result, { ok, pack, problems: [...problems] });
    onEvent?.({ type: "validated", run, report: this.#report });
    if (hasErrors(problems)) return;
    this.#busyUntil = Number.POSITIVE_INFINITY;
    await this.#reopen(signal);
    this.#busyUntil = performance.now() + settlingMs;
  }

  /** Closes the old session before it opens a new one, which may need the same resources. */
  async #reopen(signal: AbortSignal): Promise<void> {
    const { onEvent, onProblem } = this.#options;
    const { result } = this;
    await this.close();
    let opened: Session | undefined;
    try {
      opened = await openSession({
        ...this.#options,
        signal,
        onProblem: (problem) => {
          onProblem?.(problem);
          // Until the session is open, its own list has the problem.
          if (opened === undefined || this.#session !== opened) return;
          result.problems.push(problem);
          onEvent?.({ type: "reported", problem });
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TrailblazeError)) throw error;
      const { problem } = error;
      Object.assign(result, { ok: false, tools: [], problems: [...result.problems, problem] });
      onEvent?.({ type: "notOpened", problem });
      return;
    }
    this.#session = opened;
    const tools = opened.tools.map(({ name }) => name).sort();
    const known = this.#known ?? tools;
    this.#known = tools;
    result.tools = tools;
    result.problems.push(...newProblems(result.problems, opened.problems));
    const added = tools.filter((name) => !known.includes(name));
    const removed = known.filter((name) => !tools.includes(name));
    onEvent?.({ type: "opened", tools, added, removed, problems: opened.problems });
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
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
  const { cwd = process.cwd(), once: isOnce = false, quietMs } = options;
  const { signal = new AbortController().signal } = options;
  const { directory: root } = findProject(createNodeDiscoveryPort(), resolve(cwd, directory));
  const pack = new WatchedPack({ ...options, cwd: root });
  // Also ends an opening that is in progress, which could take as long as its servers.
  let change = new AbortController();
  const onChange = (paths: readonly string[]) => {
    if (pack.counts(paths)) change.abort();
  };
  const watcher = isOnce ? undefined : watchFolder(root, { quietMs }, onChange);
  try {
    while (!signal.aborted) {
      change = new AbortController();
      const outdated = AbortSignal.any([signal, change.signal]);
      await pack.update(outdated);
      if (isOnce) break;
      if (!outdated.aborted) await once(outdated, "abort");
    }
  } finally {
    watcher?.close();
    await pack.close();
  }
  return pack.result;
}
