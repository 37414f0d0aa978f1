import { type Problem, TrailblazeError } from "../../problems/index.ts";
import { OwnWrites } from "./own-writes.ts";

/** What the loop sees of a session. */
export interface OpenedSession {
  tools: readonly { name: string }[];
  problems: readonly Problem[];
  close(): Promise<void>;
}

/** What happens while a pack is developed, in order. */
export type DevEvent<Report> =
  | { type: "validated"; run: number; report: Report }
  /** There was nothing to validate. */
  | { type: "failed"; run: number; problem: Problem }
  /** Names of tools are sorted; those of the first session are not added. */
  | { type: "opened"; tools: string[]; added: string[]; removed: string[]; problems: readonly Problem[] }
  | { type: "notOpened"; problem: Problem }
  /** Something went wrong in the open session. */
  | { type: "reported"; problem: Problem }
  /** A file changes whenever the session starts, and counts no more. */
  | { type: "ignored"; path: string };

export interface DevMeans<Report> {
  validate(): Promise<Report>;
  /** Whether a session is worth opening. */
  isUsable(report: Report): boolean;
  /** Whether a file is one of those that the report is about. */
  isSource(report: Report, path: string): boolean;
  /** `onProblem` is told what goes wrong in the session once it is open. */
  openSession(signal: AbortSignal, onProblem: (problem: Problem) => void): Promise<OpenedSession>;
  /** Not there: everything happens once. */
  watch: ((onChange: (paths: readonly string[]) => void) => { close(): void }) | undefined;
  onEvent(event: DevEvent<Report>): void;
  /** Milliseconds. */
  now(): number;
}

/** Something that is told once and waited for again and again. */
class Change {
  #isTold = false;
  #wake: (() => void) | undefined;
  readonly #onAbort = () => this.#wake?.();

  tell(): void {
    this.#isTold = true;
    this.#wake?.();
  }

  /** Resolves with the next change, at once where one came since the last time, and when `signal` aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#isTold && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", this.#onAbort, { once: true });
      });
      signal.removeEventListener("abort", this.#onAbort);
      this.#wake = undefined;
    }
    this.#isTold = false;
  }
}

/** Holds the one session; a new one takes the place of the old, which is closed first: it may hold what the new needs. */
class CurrentSession<Report> {
  readonly #means: DevMeans<Report>;
  #session: OpenedSession | undefined;
  #known: readonly string[] | undefined;

  constructor(means: DevMeans<Report>) {
    this.#means = means;
  }

  async reopen(signal: AbortSignal): Promise<void> {
    const { openSession, onEvent } = this.#means;
    await this.close();
    let opened: OpenedSession | undefined;
    try {
      opened = await openSession(signal, (problem) => {
        // Until it is told of itself, the session's list has them.
        if (opened !== undefined && this.#session === opened) onEvent({ type: "reported", problem });
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TrailblazeError)) throw error;
      onEvent({ type: "notOpened", problem: error.problem });
      return;
    }
    this.#session = opened;
    const tools = opened.tools.map(({ name }) => name).sort();
    const known = this.#known ?? tools;
    this.#known = tools;
    onEvent({
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

/**
 * Validates a pack now and after every change, and keeps a session open over it: one that is valid again gets a new one,
 * with new servers; while it is broken the last one stays. Resolves when `signal` aborts, or after the first time where
 * nothing is watched; the session and the watcher are closed then, and also where it rejects.
 */
export async function develop<Report>(means: DevMeans<Report>, signal: AbortSignal): Promise<void> {
  const { validate, isUsable, isSource, onEvent, watch, now } = means;
  const change = new Change();
  const ownWrites = new OwnWrites((path) => onEvent({ type: "ignored", path }));
  const session = new CurrentSession(means);
  let opening: AbortController | undefined;
  let last: Report | undefined;
  const watcher = watch?.((paths) => {
    const isKnown = (path: string) => last !== undefined && isSource(last, path);
    if (!ownWrites.counts(paths, now(), isKnown)) return;
    change.tell();
    // A start that is under way is of no use any more, and may take as long as its servers do.
    opening?.abort();
  });
  try {
    for (let run = 1; !signal.aborted; run++) {
      let report: Report;
      try {
        report = await validate();
        last = report;
      } catch (error) {
        if (!(error instanceof TrailblazeError) || watch === undefined || run === 1) throw error;
        onEvent({ type: "failed", run, problem: error.problem });
        await change.next(signal);
        continue;
      }
      if (signal.aborted) return;
      onEvent({ type: "validated", run, report });
      if (isUsable(report)) {
        opening = new AbortController();
        ownWrites.opening();
        await session.reopen(AbortSignal.any([signal, opening.signal]));
        ownWrites.opened(now());
        opening = undefined;
      }
      if (watcher === undefined) return;
      await change.next(signal);
    }
  } finally {
    watcher?.close();
    await session.close();
  }
}
