import type { Problem } from "../problems/index.ts";
import { notifyHost } from "../runtime/notify-host.ts";
import { createState } from "./create-state.ts";
import type { SessionItem } from "./items.ts";
import { type ProjectReading, sourcesOf } from "./read-project.ts";
import type { SessionFrame } from "./session-frame.ts";
import type { SessionServer } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";

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
  /** Resolves with a state that has all servers, after one that has not. */
  readonly #startOthers: () => Promise<SessionState>;
  /** Those of the clients that the open session is served to, which hear of changes too. */
  readonly served = new Set<(change: SessionChange) => void>();
  /** The current state; `undefined` until there is one. */
  current: SessionState | undefined;
  reading: ProjectReading | undefined;
  /** Ends the use of the reading. */
  #endUse: () => void = () => {};
  /** How often servers have listed tools, and how often when the state was created. */
  #listings = 0;
  #listed = 0;
  /** States are created one after the other. */
  #publishing: Promise<void> = Promise.resolve();

  constructor(frame: SessionFrame, startOthers: () => Promise<SessionState>) {
    this.#frame = frame;
    this.#startOthers = startOthers;
  }

  /** Creates a state from what the servers of a reading say now, and replaces the current one. */
  publish(reading: ProjectReading): Promise<SessionState> {
    const published = this.#publishing.then(async () => {
      const listings = this.#listings;
      const before = this.current;
      const state = await createState(reading, this.#frame, before === undefined, this.#startOthers);
      this.#frame.resources.closing.throwIfAborted();
      this.#listed = listings;
      const endUse = reading.holds.use();
      const endUseBefore = this.#endUse;
      this.reading = reading;
      this.current = state;
      this.#endUse = endUse;
      before?.retire(endUseBefore);
      if (before !== undefined) this.#announce(before, state);
      return state;
    });
    this.#publishing = published.then(
      () => {},
      () => {},
    );
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
