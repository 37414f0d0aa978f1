import { join, resolve } from "node:path";
import { readConfig } from "../config/read-config.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { type Gate, openLockGate } from "../lock/gate.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { abortable, whenAborted } from "../runtime/abort-listeners.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import type { Clock } from "../runtime/time-limit.ts";
import { Calls } from "./calls.ts";
import { ProjectFollower } from "./follow-project.ts";
import { type Selection, selectMembers } from "./members.ts";
import { Holds, readProject } from "./read-project.ts";
import { Session } from "./session.ts";
import { SessionFrame } from "./session-frame.ts";
import { applyOptions, type CommandSessionOptions } from "./session-options.ts";
import { SessionProcesses } from "./session-processes.ts";
import type { SessionState } from "./session-state.ts";

/** How a session opens and runs; for hosts, `openSession` decides. */
export interface OpeningRules {
  /** Whether a failing server of the config rejects the start, or is reported (for `doctor`, which shows all problems). */
  userServers: "needed" | "reported";
  /**
   * For a session that is served. What is broken is reported and left out, servers that take long join later, and what
   * exits is restarted up to 3 times a minute; no exit ends the session.
   */
  served?: boolean;
  /** The only server of the session, which then has nothing else; its failure rejects the start. */
  only?: OnlyServer | undefined;
  /** What the session has instead of its project's. Its code learns nothing of the session. */
  selection?: Selection | undefined;
  /** Called with what packs' code prints in child processes. */
  onOutput?: ((text: string) => void) | undefined;
  /** Default: the system's. */
  clock?: Clock;
  /** Decides what is approved instead of the lock: for showing what differs from it. */
  openGate?(config: SessionConfig): Promise<Gate | undefined>;
  /** Installs packs that the session would miss; resolves with problems. */
  installMissing?(config: SessionConfig): Promise<readonly Problem[]>;
}

/** A server of the config by its label, or of a pack by its qualified name. */
export type OnlyServer = Pick<ServerPlan, "label" | "pack">;

/** How long a state waits for servers, which then join later. Milliseconds. */
const serversMs = 8000;

/** A problem if the config asks for packs' code in this process, which a session that follows its project does not do. */
function findOverriddenIsolation(
  { text, isolation }: SessionConfig,
  { watch = false, config }: CommandSessionOptions,
): Problem[] {
  const written = text?.value ?? config;
  const isWritten = isRecord(written) && written.isolation !== undefined && written.isolation !== null;
  return watch && isWritten && isolation === "in-process" ? [createProblem("IsolationOverridden", {})] : [];
}

/** One session: what lasts from its start to its end, and the state that may be replaced. Ends all of it on a failed start. */
class Opening {
  readonly #frame: SessionFrame;
  readonly #config: SessionConfig;
  readonly #processes: SessionProcesses;
  readonly #calls: Calls;
  #isLocked = false;
  #completing: Promise<SessionState> | undefined;
  /** Ends what readings of the project started. */
  readonly #unused: (() => void)[] = [];

  constructor(config: SessionConfig, cwd: string, options: CommandSessionOptions, rules: OpeningRules) {
    this.#config = config;
    this.#frame = new SessionFrame(config, { cwd, options, rules }, () => this.#startOthers());
    this.#processes = new SessionProcesses(this.#frame, (call) => this.#calls.callFromServer(call));
    this.#calls = new Calls(this.#frame, this.#processes);
  }

  async open(problems: readonly Problem[]): Promise<Session> {
    const resources = this.#frame.resources;
    const { signal } = this.#frame.options;
    try {
      if (signal !== undefined) resources.follow(signal);
      // After an abort, `#open` stops at its next step, because the session is closed.
      return await abortable(resources.closing, () => this.#open(problems));
    } catch (error) {
      await resources.close(error);
      throw error;
    }
  }

  async #open(problems: readonly Problem[]): Promise<Session> {
    const config = this.#config;
    const frame = this.#frame;
    const follower = frame.options.watch
      ? new ProjectFollower(frame, (superseded) => this.#apply(superseded))
      : undefined;
    // Code of packs is loaded as soon as it is read: its files may be replaced.
    if (follower !== undefined) await this.#processes.prepare();
    // Before the project is read, so that no change is missed.
    await follower?.watch();
    const { selection } = frame.rules;
    await (selection ? this.#select(selection) : this.#take(config, problems));
    await follower?.begin();
    return new Session({ frame, processes: this.#processes, calls: this.#calls });
  }

  /** The state of a selection. Runs each `initialize`. */
  async #select(selection: Selection): Promise<void> {
    const { state, initializers } = await selectMembers(selection, this.#config, createNodeInspectionPort());
    this.#processes.initializers = initializers;
    for (const { owner } of initializers)
      await this.#frame.resources.step(this.#processes.runners.get(owner));
    this.#frame.states.current = state;
  }

  /** Reads the project, starts its servers, and replaces the state. Without success, the state before stays. */
  async #take(
    config: SessionConfig,
    problems: readonly Problem[],
    { superseded, startsAll = false }: { superseded?: AbortSignal; startsAll?: boolean } = {},
  ): Promise<SessionState> {
    const { resources, rules, states, clock } = this.#frame;
    const ends: (() => void)[] = [];
    const holds = new Holds();
    const endUse = holds.use();
    try {
      const reading = await readProject({
        frame: this.#frame,
        config,
        processes: this.#processes,
        problems: [...config.problems, ...problems],
        before: states.reading,
        gate: await resources.step(this.#openGate(config)),
        startsAll,
        holds,
      });
      const mayJoinLater =
        (rules.served === true && rules.only === undefined) || states.current !== undefined;
      const waits = [reading.started];
      superseded?.throwIfAborted();
      if (mayJoinLater && !startsAll)
        waits.push(
          new Promise<void>((resolve) => {
            ends.push(clock.after(serversMs, resolve));
            if (superseded !== undefined) ends.push(whenAborted(superseded, resolve));
          }),
        );
      // A failing server that the session needs fails it immediately.
      await resources.step(Promise.race(waits));
      superseded?.throwIfAborted();
      return await states.publish(reading);
    } finally {
      for (const end of ends) end();
      // After one that was superseded, the next state probably uses the same servers.
      this.#unused.push(endUse);
      if (superseded?.aborted !== true) for (const end of this.#unused.splice(0)) end();
    }
  }

  /** The state with the servers that the session's calls did not need, for one that needs them after all. */
  #startOthers(): Promise<SessionState> {
    this.#completing ??= this.#take(this.#frame.config(), [], { startsAll: true });
    return this.#completing;
  }

  /** Takes a state from the project as it is now. */
  async #apply(superseded: AbortSignal): Promise<void> {
    const config = await readSessionConfig(this.#frame.cwd, this.#frame.options, this.#frame.rules);
    this.#frame.memory.addSensitive(config.sensitiveMemory);
    await this.#take(config, [], { superseded });
  }

  /** What the lock approves. A session that began with a lock does not go on without one: it rejects with `LockMissing`. */
  async #openGate(config: SessionConfig): Promise<Gate | undefined> {
    const { lock } = this.#frame.options;
    const gate = await (this.#frame.rules.openGate ?? openLockGate)(config, lock);
    if (gate !== undefined) this.#isLocked = true;
    else if (this.#isLocked) {
      const file = join(config.project, "trailblaze.lock");
      throw failure("LockMissing", { file }, { file });
    }
    return gate;
  }
}

/** A session whose project and config are valid. */
export interface PreparedSession {
  /** The config, overridden by the options. */
  config: SessionConfig;
  /** Discovers, loads, starts every server at once, filters, and registers in one step. */
  open(): Promise<Session>;
}

/** Reads the config of a session. Throws `TrailblazeError` `ProjectNotFound` or `InvalidConfig`. */
export async function prepareSession(
  options: CommandSessionOptions,
  rules: OpeningRules,
): Promise<PreparedSession> {
  const cwd = resolve(options.cwd ?? process.cwd());
  options.signal?.throwIfAborted();
  const config = await readSessionConfig(cwd, options, rules);
  return {
    config,
    async open() {
      const missing = (await rules.installMissing?.(config)) ?? [];
      const problems = [...missing, ...findOverriddenIsolation(config, options)];
      return new Opening(config, cwd, options, rules).open(problems);
    },
  };
}

/** Opens a session. */
export async function openSessionByRules(
  options: CommandSessionOptions,
  rules: OpeningRules,
): Promise<Session> {
  return (await prepareSession(options, rules)).open();
}

/** The project's config, overridden by the options. */
async function readSessionConfig(
  cwd: string,
  options: CommandSessionOptions,
  { only, selection }: OpeningRules,
): Promise<SessionConfig> {
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const config = applyOptions(await readConfig(port, { directory, config: options.config, cwd }), options);
  if (only === undefined && selection === undefined) return config;
  const isOnly = ({ name }: UserServer) => only?.pack === undefined && name === only?.label;
  return {
    ...config,
    // Code that learns nothing of a session calls nothing of it.
    callback: { ...config.callback, enabled: selection === undefined && config.callback.enabled },
    device: undefined,
    memory: new Map(),
    builtIns: [],
    toolsets: new Map(),
    servers: [],
    subprocessServers: config.subprocessServers.filter(isOnly),
  };
}
