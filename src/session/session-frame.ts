import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { attempt, errorCode } from "../files/file-errors.ts";
import { findUserFolder } from "../files/user-folders.ts";
import { openLockGate } from "../lock/gate.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { abortable, whenAborted } from "../runtime/abort-listeners.ts";
import { clock } from "../runtime/time-limit.ts";
import { Calls } from "./calls.ts";
import type { ToolLog } from "./host-functions.ts";
import type { SessionItem, ToolItem } from "./items.ts";
import { removeOldest } from "./large-results.ts";
import type { Opening, OpeningRules } from "./open-session.ts";
import { Holds, type ProjectReading, readProject, sourcesOf } from "./read-project.ts";
import { SessionMemory } from "./session-memory.ts";
import type { CommandSessionOptions } from "./session-options.ts";
import { SessionProcesses } from "./session-processes.ts";
import type { SessionServer } from "./session-servers.ts";
import { collectParts, SessionState } from "./session-state.ts";

/** A limit on the problems that a session keeps beside those of its state. */
const mostReported = 1000;

/** What lasts as long as a session, for its parts. */
export class SessionFrame {
  readonly id = randomUUID();
  /** Absolute. */
  readonly cwd: string;
  readonly options: CommandSessionOptions;
  readonly rules: OpeningRules;
  readonly memory: SessionMemory;
  readonly resources = new SessionResources();
  readonly logDir: string;
  readonly states: SessionStates;
  readonly processes: SessionProcesses;
  readonly calls: Calls;
  /** Problems of servers and code, which can occur at any time. */
  readonly reported: Problem[] = [];
  /** The name and the arguments of each successful call of the host: JSON, for the speed of calls. */
  readonly recorded: { name: string; json: string }[] = [];
  readonly #config: SessionConfig;
  readonly #once = new Set<string>();

  constructor(config: SessionConfig, { cwd, options, rules }: Opening) {
    this.cwd = cwd;
    this.options = options;
    this.rules = rules;
    this.memory = new SessionMemory(config.memory, config.sensitiveMemory);
    this.logDir = this.#openLogs(config);
    this.states = new SessionStates(this);
    this.processes = new SessionProcesses(this);
    this.calls = new Calls(this);
    this.#config = config;
  }

  /** The folder of the session's logs. If that of the config cannot be made, a temporary one serves, which is reported. */
  #openLogs({ text, logDir }: SessionConfig): string {
    if (logDir === undefined) return openLogFolder(this.id);
    try {
      mkdirSync(logDir, { recursive: true, mode: 0o700 });
      return logDir;
    } catch (error) {
      const folder = makeTemporaryLogs();
      const reason = `cannot create the folder of \`logDir\` (${errorCode(error)}), so the logs are in ${folder}`;
      const problem = createProblem("InvalidConfig", { reason }, { file: text?.file, path: ["logDir"] });
      this.reported.push({ ...problem, severity: "warning" });
      return folder;
    }
  }

  state = (): SessionState => {
    const { current } = this.states;
    if (current === undefined) throw new Error("The session is not open yet.");
    return current;
  };

  config = (): SessionConfig => this.states.current?.config ?? this.#config;

  report = (problem: Problem): void => {
    this.reported.push(problem);
    if (this.reported.length > mostReported) this.reported.shift();
    // Before the session is open, the problem is part of its list.
    const { onProblem } = this.options;
    if (this.states.current !== undefined && onProblem !== undefined) attempt(() => onProblem(problem));
  };

  /** Reports what may occur many times, so that it fills no list. */
  reportOnce = (problem: Problem, key = problem.message): void => {
    if (!this.#once.has(key)) this.report(problem);
    this.#once.add(key);
  };

  withdraw = (problem: Problem): void => {
    const index = this.reported.indexOf(problem);
    if (index >= 0) this.reported.splice(index, 1);
  };

  log = (entry: ToolLog): void => {
    attempt(() => this.options.onLog?.({ ...entry, data: this.memory.redact(entry.data) }));
  };
}

/** What a session has started. It ends with the session, or immediately if it is added later. */
class SessionResources {
  readonly #closing = new AbortController();
  /** Aborted with the reason when the session ends. */
  readonly closing: AbortSignal = this.#closing.signal;
  readonly #ends = new Set<() => Promise<unknown>>();
  #ending: Promise<unknown> = Promise.resolve();

  constructor() {
    // First of all that listens.
    whenAborted(this.closing, () => {
      this.#ending = Promise.allSettled([...this.#ends].map((end) => end()));
    });
  }

  /** Ends the session when the user's signal aborts. */
  follow(signal: AbortSignal): void {
    signal.throwIfAborted();
    const forget = whenAborted(signal, () => this.close(signal.reason));
    this.#ends.add(async () => forget());
  }

  /** The returned function forgets it after its end. If the session has ended, ends it and throws the session's reason. */
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

const keptSessions = 20;
/** Logs that are younger are kept, too, because their session may still run. */
const keptMs = 24 * 60 * 60 * 1000;
/** How often a process looks for old logs: with thousands of folders, that takes longer than to open a session. */
const cleanMs = 60 * 60 * 1000;
/** When it last did, by folder. */
const cleanedAt = new Map<string, number>();

const makeTemporaryLogs = () => mkdtempSync(join(tmpdir(), "trailblaze-logs-"));

/** Readable only by this user. Where that is not possible, it is a temporary folder: logs are optional. */
export function openLogFolder(sessionId: string, state = findUserFolder("state")): string {
  const all = state && join(state, "trailblaze", "logs");
  const folder = attempt(() => {
    if (all === undefined) return undefined;
    mkdirSync(join(all, sessionId), { recursive: true, mode: 0o700 });
    if (Date.now() - (cleanedAt.get(all) ?? 0) >= cleanMs) {
      cleanedAt.set(all, Date.now());
      removeOldest(all, /./, keptSessions, keptMs);
    }
    return join(all, sessionId);
  });
  return folder ?? makeTemporaryLogs();
}

/** How long a state waits for servers, which then join later. Milliseconds. */
const serversMs = 8000;

/** What a change of the project, or of a server, changed in a session. */
export interface SessionChange {
  /** Whether `session.tools` or what `toolsForLlm()` returns has changed. */
  tools: boolean;
  /** Whether `session.prompts` has changed. */
  prompts: boolean;
  /** Set if `session.resources`, `session.skills`, or a pack whose resources it has, has changed. */
  resources?: true;
  /** The problems that the session did not have before. */
  problems: readonly Problem[];
}

/**
 * What clients see of the items of a kind: an update that changes only a version changes nothing for them. Of resources with the
 * content of their packs, because what their handlers read may have changed, too.
 */
function describeItems(state: SessionState, kind: SessionItem["kind"]): string {
  const shownTools = new Set<object>(state.toolsForLlm());
  const described = state.of(kind).map((item) => {
    const { shown, listing } = item;
    const seen = { ...shown, source: { ...shown.source, version: undefined } };
    if (item.kind === "tool") {
      const { icons, execution } = listing as Readonly<Record<string, unknown>>;
      return [seen, icons, execution, shownTools.has(shown)];
    }
    if (item.kind !== "resource" || item.route.by === "server") return [seen, listing];
    return [seen, listing, item.route.code.item.definition, item.route.owner.content];
  });
  return JSON.stringify(described);
}

/** The states of a session, one after the other. */
export class SessionStates {
  readonly #frame: SessionFrame;
  /** Those of the clients that the open session is served to, which hear of changes too. */
  readonly served = new Set<(change: SessionChange) => void>();
  current: SessionState | undefined;
  /** Ends the use of what it is from. */
  #endUse = () => {};
  /** End the uses of readings that were superseded: the next state probably uses the same servers. */
  readonly #superseded: (() => void)[] = [];
  #isLocked = false;
  #completing: Promise<SessionState> | undefined;
  /** Whether a state will be created from what servers say now. */
  #isDue = false;
  /** States are created one after the other. */
  #publishing: Promise<unknown> = Promise.resolve();

  constructor(frame: SessionFrame) {
    this.#frame = frame;
  }

  /** Without success, the state before stays. Stops early when `stop` aborts, because the project has changed again. */
  async take(config: SessionConfig, stop: AbortSignal): Promise<void> {
    const frame = this.#frame;
    const { resources } = frame;
    const { mode, selection } = frame.rules;
    const holds = new Holds();
    this.#superseded.push(holds.use());
    try {
      const gate = await resources.step(this.#openGate(config));
      const reading = await readProject({ frame, config, gate, holds });
      const mayJoinLater = (mode === "served" && selection === undefined) || this.current !== undefined;
      const enough = new Promise<void>((resolve) => {
        if (mayJoinLater) clock.after(serversMs, resolve);
      });
      // A failing server that the session needs fails it immediately.
      await abortable(stop, () => resources.step(Promise.race([reading.started, enough])));
      await this.publish(reading);
    } finally {
      if (!stop.aborted) for (const end of this.#superseded.splice(0)) end();
    }
  }

  /**
   * What judges by the lock: what is read, what servers list, what they list once started, and each call. A session that began with a lock does not go on
   * without one: it rejects with `LockMissing`.
   */
  async #openGate(config: SessionConfig): Promise<LockGate | undefined> {
    const { options, rules } = this.#frame;
    const gate = await (rules.openGate ?? openLockGate)(config, options.lock);
    if (gate !== undefined) this.#isLocked = true;
    else if (this.#isLocked) {
      const file = join(config.project, "trailblaze.lock");
      throw failure("LockMissing", { file }, { file });
    }
    return gate;
  }

  /** As the state resolves it. For an unknown name, starts the servers that may have it first. `caller` makes a nested call. */
  async resolve(state: SessionState, name: string, caller?: { pack: string | undefined }): Promise<ToolItem> {
    const { reading } = state.parts;
    try {
      return state.resolve(name, caller?.pack);
    } catch (error) {
      if (!reading.isPartial || !(error instanceof TrailblazeError)) throw error;
      // The host names the servers that it needs. A slash in the name of a tool looks like that of LABEL/TOOL or a pack.
      const { code, args } = error.problem;
      const mayBeOwnName = code === "PackNotInstalled" || (code === "ServerNotFound" && "isLabel" in args);
      if (caller === undefined && !mayBeOwnName) throw error;
    }
    return (await this.#startOthers(reading)).resolve(name, caller?.pack);
  }

  /** Starts the servers that the session's calls did not need; resolves with the state that has them. */
  #startOthers(reading: ProjectReading): Promise<SessionState> {
    this.#completing ??= (async () => {
      const others = sourcesOf(reading).filter(({ offer }) => offer === undefined);
      for (const { server } of others) server.startWithSession();
      await this.#frame.resources.step(Promise.allSettled(others.map(({ server }) => server.ready)));
      return this.publish({ ...reading, isPartial: false });
    })();
    return this.#completing;
  }

  /** Does something with the reading that is then the current one. */
  #next<Value>(work: (reading: ProjectReading | undefined) => Promise<Value>): Promise<Value> {
    const done = this.#publishing.then(() => work(this.current?.parts.reading));
    this.#publishing = done.catch(() => {});
    return done;
  }

  /** Creates a state from what the servers of a reading say now, and replaces the current one. */
  publish(reading: ProjectReading): Promise<SessionState> {
    return this.#next(() => this.#replace(reading));
  }

  async #replace(reading: ProjectReading): Promise<SessionState> {
    const before = this.current;
    const state = new SessionState(await collectParts(reading, this.#frame, before === undefined));
    this.#frame.resources.closing.throwIfAborted();
    const endUseBefore = this.#endUse;
    this.#endUse = reading.holds.use();
    this.current = state;
    // Calls in progress hold what they use.
    endUseBefore();
    if (before !== undefined) this.#announce(before, state);
    return state;
  }

  /** Lets servers that have started, failed or listed other tools since the state was created join it. */
  onListed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#next(async (reading) => {
      this.#isDue = false;
      if (reading !== undefined && !this.#frame.resources.closing.aborted) await this.#replace(reading);
    }).catch(() => {});
  }

  /**
   * Takes what is not approved of a server that has started out of the state. Resolves with whether there is a lock. Ends the
   * session and rejects if the lock is frozen and anything differs.
   */
  onStarted(server: SessionServer): Promise<boolean> {
    return this.#next(async (reading) => {
      const source = reading && sourcesOf(reading).find((one) => one.server === server);
      if (reading === undefined || source?.how.gate === undefined) return false;
      try {
        if (source.offer?.differs) await this.#replace(reading);
      } catch (error) {
        void this.#frame.resources.close(error);
        throw error;
      }
      return true;
    });
  }

  #announce(before: SessionState, after: SessionState): void {
    const { onProblem, onChange } = this.#frame.options;
    const known = new Set(before.parts.problems.map((problem) => JSON.stringify(problem)));
    const problems = after.parts.problems.filter((problem) => !known.has(JSON.stringify(problem)));
    for (const problem of problems) attempt(() => onProblem?.(problem));
    const differs = (kind: SessionItem["kind"]) => describeItems(before, kind) !== describeItems(after, kind);
    const [tools, prompts] = [differs("tool"), differs("prompt")];
    // MCP tells of changed skills as of changed resources.
    const resources = differs("resource") || differs("skill");
    if (!tools && !prompts && !resources) return;
    const change: SessionChange = { tools, prompts, ...(resources && { resources }), problems };
    for (const tell of [onChange, ...this.served]) attempt(() => tell?.(change));
  }
}
