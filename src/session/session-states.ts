import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { type Gate, openLockGate } from "../lock/gate.ts";
import { failure, type Problem } from "../problems/index.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import { notifyHost } from "../runtime/notify-host.ts";
import { createState } from "./create-state.ts";
import type { SessionItem } from "./items.ts";
import { Holds, type ProjectReading, readProject, sourcesOf } from "./read-project.ts";
import type { SessionFrame } from "./session-frame.ts";
import type { SessionProcesses } from "./session-processes.ts";
import type { SessionServer } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";

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
    if (item.kind === "skill") return [seen, listing];
    if (item.kind === "prompt") return [seen, listing];
    if (item.kind === "tool") {
      const { icons, execution } = listing as Readonly<Record<string, unknown>>;
      return [seen, icons, execution, shownTools.has(shown)];
    }
    return [
      seen,
      listing,
      item.route.by === "code" && [item.route.code.item.definition, item.route.owner.content],
    ];
  });
  return JSON.stringify(described);
}

/** The lists that differ between two states; `undefined` if none does. */
function findSessionChange(
  before: SessionState,
  after: SessionState,
): Omit<SessionChange, "problems"> | undefined {
  const differs = (kind: SessionItem["kind"]) => describeItems(before, kind) !== describeItems(after, kind);
  const [tools, prompts] = [differs("tool"), differs("prompt")];
  // MCP tells of changed skills as of changed resources.
  const resources = differs("resource") || differs("skill");
  return tools || prompts || resources ? { tools, prompts, ...(resources && { resources }) } : undefined;
}

/** The problems of `after` that `before` does not have. */
function findNewProblems(before: readonly Problem[], after: readonly Problem[]): Problem[] {
  const known = new Set(before.map((problem) => JSON.stringify(problem)));
  return after.filter((problem) => !known.has(JSON.stringify(problem)));
}

/** The states of a session, one after the other, and the reading of the project that the current one is from. */
export class SessionStates {
  readonly #frame: SessionFrame;
  /** Those of the clients that the open session is served to, which hear of changes too. */
  readonly served = new Set<(change: SessionChange) => void>();
  /** The current state; `undefined` until there is one. */
  current: SessionState | undefined;
  reading: ProjectReading | undefined;
  /** Ends the use of the reading. */
  #endUse = () => {};
  /** End the uses of readings that were superseded: the next state probably uses the same servers. */
  readonly #superseded: (() => void)[] = [];
  #isLocked = false;
  #completing: Promise<SessionState> | undefined;
  /** How often servers have listed tools, and how often when the state was created. */
  #listings = 0;
  #listed = 0;
  /** States are created one after the other. */
  #publishing: Promise<unknown> = Promise.resolve();

  constructor(frame: SessionFrame) {
    this.#frame = frame;
  }

  /**
   * Reads the project, starts its servers, and replaces the state. Without success, the state before stays. Stops early when
   * `stop` aborts, because the project has changed again.
   */
  async take(
    processes: SessionProcesses,
    {
      config,
      problems = [],
      stop,
    }: { config: SessionConfig; problems?: readonly Problem[]; stop?: AbortSignal },
  ): Promise<void> {
    const frame = this.#frame;
    const { resources, rules, clock } = frame;
    const holds = new Holds();
    this.#superseded.push(holds.use());
    let endWait = () => {};
    try {
      const reading = await readProject({
        frame,
        config,
        processes,
        problems: [...config.problems, ...problems],
        before: this.reading,
        gate: await resources.step(this.#openGate(config)),
        holds,
      });
      const waits = [reading.started];
      const mayJoinLater = (rules.served === true && rules.only === undefined) || this.current !== undefined;
      if (mayJoinLater)
        waits.push(
          new Promise<void>((resolve) => {
            endWait = clock.after(serversMs, resolve);
          }),
        );
      // A failing server that the session needs fails it immediately.
      const started = () => resources.step(Promise.race(waits));
      await (stop === undefined ? started() : abortable(stop, started));
      await this.publish(reading);
    } finally {
      endWait();
      if (stop?.aborted !== true) for (const end of this.#superseded.splice(0)) end();
    }
  }

  /** What the lock approves. A session that began with a lock does not go on without one: it rejects with `LockMissing`. */
  async #openGate(config: SessionConfig): Promise<Gate | undefined> {
    const { options, rules } = this.#frame;
    const gate = await (rules.openGate ?? openLockGate)(config, options.lock);
    if (gate !== undefined) this.#isLocked = true;
    else if (this.#isLocked) {
      const file = join(config.project, "trailblaze.lock");
      throw failure("LockMissing", { file }, { file });
    }
    return gate;
  }

  /** Starts the servers that the session's calls did not need; resolves with the state that has them. */
  startOthers(reading: ProjectReading): Promise<SessionState> {
    this.#completing ??= (async () => {
      const others = sourcesOf(reading).filter(({ offer }) => offer === undefined);
      for (const { server } of others) server.startWithSession();
      await this.#frame.resources.step(Promise.allSettled(others.map(({ server }) => server.ready)));
      return this.publish({ ...reading, isPartial: false });
    })();
    return this.#completing;
  }

  /** Creates a state from what the servers of a reading say now, and replaces the current one. */
  publish(reading: ProjectReading): Promise<SessionState> {
    const published = this.#publishing.then(async () => {
      const listings = this.#listings;
      const before = this.current;
      const state = await createState(reading, this.#frame, before === undefined);
      this.#frame.resources.closing.throwIfAborted();
      this.#listed = listings;
      const endUseBefore = this.#endUse;
      this.#endUse = reading.holds.use();
      this.reading = reading;
      this.current = state;
      // Calls in progress hold what they use.
      endUseBefore();
      if (before !== undefined) this.#announce(before, state);
      return state;
    });
    this.#publishing = published.catch(() => {});
    return published;
  }

  /** Lets servers that have started, failed or listed other tools since the state was created join it. */
  onListed(): void {
    this.#listings += 1;
    void this.#publishing
      .then(async () => {
        const { reading } = this;
        if (reading === undefined || this.#listed === this.#listings) return;
        if (this.#frame.resources.closing.aborted) return;
        await this.publish(reading);
      })
      .catch(() => {});
  }

  /**
   * Takes what is not approved of a server that has started out of the state. Resolves with whether there is a lock. Ends the
   * session and rejects if the lock is frozen and anything differs.
   */
  async onStarted(server: SessionServer): Promise<boolean> {
    await this.#publishing;
    const { reading } = this;
    const source = reading && sourcesOf(reading).find((one) => one.server === server);
    if (reading === undefined || source?.isLocked !== true) return false;
    try {
      if (source.differs) await this.publish(reading);
    } catch (error) {
      void this.#frame.resources.close(error);
      throw error;
    }
    return true;
  }

  #announce(before: SessionState, after: SessionState): void {
    const { onProblem, onChange } = this.#frame.options;
    const problems = findNewProblems(before.problems, after.problems);
    for (const problem of problems) notifyHost(() => onProblem?.(problem));
    const found = findSessionChange(before, after);
    if (found === undefined) return;
    const change = { ...found, problems };
    for (const tell of [onChange, ...this.served]) notifyHost(() => tell?.(change));
  }
}
