import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { findUserFolder } from "../files/user-folders.ts";
import { failure, type Problem } from "../problems/index.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { notifyHost } from "../runtime/notify-host.ts";
import { type Clock, systemClock } from "../runtime/time-limit.ts";
import type { ToolLog } from "./host-functions.ts";
import type { OpeningRules } from "./open-session.ts";
import { Recording, SessionMemory } from "./session-memory.ts";
import type { CommandSessionOptions } from "./session-options.ts";
import type { SessionState } from "./session-state.ts";
import { SessionStates } from "./session-states.ts";

/** A limit on the problems that a session keeps beside those of its state. */
const mostReported = 1000;

/** What lasts as long as a session, for its parts. */
export class SessionFrame {
  readonly id = randomUUID();
  /** Absolute. */
  readonly cwd: string;
  readonly options: CommandSessionOptions;
  readonly rules: OpeningRules;
  readonly clock: Clock;
  readonly memory: SessionMemory;
  /** Holds everything that is started, to end it with the session. */
  readonly resources = new SessionResources();
  readonly logDir: string;
  readonly states: SessionStates;
  /** Problems of servers and code, which can occur at any time. */
  readonly reported: Problem[] = [];
  /** The successful calls of the host. */
  readonly recording: Recording;
  readonly #config: SessionConfig;
  /** The keys of what is reported once. */
  readonly #once = new Set<string>();

  constructor(
    config: SessionConfig,
    { cwd, options, rules }: Pick<SessionFrame, "cwd" | "options" | "rules">,
  ) {
    this.cwd = cwd;
    this.options = options;
    this.rules = rules;
    this.clock = rules.clock ?? systemClock;
    this.memory = new SessionMemory(config.memory, config.sensitiveMemory);
    this.recording = new Recording((args) => this.memory.redact(args));
    this.logDir = openLogs(this.id, config);
    this.states = new SessionStates(this);
    this.#config = config;
  }

  /** The current state of the open session. */
  state = (): SessionState => {
    const { current } = this.states;
    if (current === undefined) throw new Error("The session is not open yet.");
    return current;
  };

  /** The config of the current state. */
  config = (): SessionConfig => this.states.current?.config ?? this.#config;

  report = (problem: Problem): void => {
    this.reported.push(problem);
    if (this.reported.length > mostReported) this.reported.shift();
    // Before the session is open, the problem is part of its list.
    const { onProblem } = this.options;
    if (this.states.current !== undefined && onProblem !== undefined) notifyHost(() => onProblem(problem));
  };

  /** Reports what may occur many times, so that it fills no list. */
  reportOnce = (problem: Problem, key = problem.message): void => {
    if (!this.#once.has(key)) this.report(problem);
    this.#once.add(key);
  };

  /** Removes a reported problem that has been solved. */
  withdraw = (problem: Problem): void => {
    const index = this.reported.indexOf(problem);
    if (index >= 0) this.reported.splice(index, 1);
  };

  log = (entry: ToolLog): void => {
    notifyHost(() => this.options.onLog?.({ ...entry, data: this.memory.redact(entry.data) }));
  };
}

/**
 * Everything that a session has started. All of it ends when the session is closed, when its start fails or is aborted,
 * or when an exit ends the session. What is added later is ended immediately.
 */
class SessionResources {
  readonly #closing = new AbortController();
  readonly #ends = new Set<() => Promise<unknown>>();
  #ending: Promise<unknown> = Promise.resolve();

  constructor() {
    // First of all that listens.
    whenAborted(this.closing, () => {
      this.#ending = Promise.allSettled([...this.#ends].map((end) => end()));
    });
  }

  /** Aborted with the reason when the session ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends the session when the user's signal aborts. */
  follow(signal: AbortSignal): void {
    signal.throwIfAborted();
    const forget = whenAborted(signal, () => this.close(signal.reason));
    this.#ends.add(async () => forget());
  }

  /**
   * Adds a resource; the returned function forgets it after its end. If the session has ended, ends the resource and throws
   * the session's reason.
   */
  add(end: () => Promise<unknown>): () => void {
    if (this.closing.aborted) end().catch(() => {});
    this.closing.throwIfAborted();
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  /** Settles as the work does, or rejects when the session ends first. */
  async step<Value>(work: Promise<Value>): Promise<Value> {
    const value = await work;
    this.closing.throwIfAborted();
    return value;
  }

  /** Ends the session with a reason, and everything in it in parallel; resolves when all of it has ended. Idempotent. */
  async close(reason: unknown = failure("SessionClosed", { reason: undefined })): Promise<void> {
    this.#closing.abort(reason);
    await this.#ending;
  }
}

/** How many sessions' logs are kept. */
const keptSessions = 20;
/** Logs that are younger are kept, too, because their session may still run. */
const keptMs = 24 * 60 * 60 * 1000;

/** Removes all but the latest folders, as far as it may. */
function removeOldest(all: string): void {
  const folders = readdirSync(all).map((name) => {
    const path = join(all, name);
    // Another session may have removed it meanwhile.
    return { path, mtimeMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  folders.sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const { path, mtimeMs } of folders.slice(keptSessions)) {
    if (Date.now() - mtimeMs < keptMs) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It may belong to another user.
    }
  }
}

/**
 * Creates the folder of a session's logs in the user's, readable only by this user, and removes those of the oldest sessions.
 * Where that is not possible, it is a temporary folder: logs are optional, and a missing folder must not fail the session.
 */
export function openLogFolder(sessionId: string, state = findUserFolder("state")): string {
  try {
    if (state !== undefined) {
      const all = join(state, "trailblaze", "logs");
      mkdirSync(join(all, sessionId), { recursive: true, mode: 0o700 });
      removeOldest(all);
      return join(all, sessionId);
    }
  } catch {}
  return mkdtempSync(join(tmpdir(), "trailblaze-logs-"));
}

/** The folder of a session's logs. Throws `TrailblazeError` `InvalidConfig` if that of the config cannot be created. */
function openLogs(sessionId: string, { text, logDir }: SessionConfig): string {
  if (logDir === undefined) return openLogFolder(sessionId);
  try {
    mkdirSync(logDir, { recursive: true, mode: 0o700 });
    return logDir;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = `cannot create the folder of \`logDir\`: ${code ?? message}`;
    throw failure("InvalidConfig", { reason }, { file: text?.file, path: ["logDir"] });
  }
}
