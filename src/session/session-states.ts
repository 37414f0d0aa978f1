import { notifyHost } from "../runtime/late-errors.ts";
import { findNewProblems, findSessionChange, type SessionChange } from "./session-change.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionResources } from "./session-resources.ts";
import type { SessionServer } from "./session-servers.ts";
import type { SessionState } from "./session-state.ts";
import type { StateSources } from "./take-state.ts";

/** The states of a session, one after the other, and the sources of the current one. */
export class SessionStates {
  readonly #resources: SessionResources;
  readonly #listeners: Pick<SessionOptions, "onProblem" | "onChange">;
  /** Those of the clients that the open session is served to, which hear of changes too. */
  readonly served = new Set<(change: SessionChange) => void>();
  /** The current state; `undefined` until there is one. */
  current: SessionState | undefined;
  sources: StateSources | undefined;
  /** Ends the use of the state's sources. */
  #endUse: () => void = () => {};
  /** How often servers have listed tools, and how often when the state was created. */
  #listings = 0;
  #listed = 0;
  /** States are created one after the other. */
  #publishing: Promise<void> = Promise.resolve();

  constructor(resources: SessionResources, listeners: Pick<SessionOptions, "onProblem" | "onChange">) {
    this.#resources = resources;
    this.#listeners = listeners;
  }

  /** Creates a state from the sources as they are now, and replaces the current one. */
  publish(sources: StateSources): Promise<SessionState> {
    const published = this.#publishing.then(async () => {
      const listings = this.#listings;
      const before = this.current;
      const state = await sources.createState(before, () => this.publish(sources));
      this.#resources.closing.throwIfAborted();
      this.#listed = listings;
      const endUse = sources.use();
      const endUseBefore = this.#endUse;
      this.sources = sources;
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
        const { sources } = this;
        if (sources === undefined || this.#listed === this.#listings) return;
        if (this.#resources.closing.aborted) return;
        await this.publish(sources);
      })
      .catch(() => {});
  }

  /**
   * Takes what is not approved of a server that has started out of the state. Resolves with whether there is a lock. Ends the
   * session and rejects if the lock is frozen and anything differs.
   */
  async onStarted(server: SessionServer): Promise<boolean> {
    await this.#publishing;
    const { sources } = this;
    const approval = sources?.approvalOf(server);
    if (sources === undefined || approval === undefined) return false;
    try {
      if (approval.differs) await this.publish(sources);
    } catch (error) {
      void this.#resources.close(error);
      throw error;
    }
    return true;
  }

  #announce(before: SessionState, after: SessionState): void {
    const { onProblem, onChange } = this.#listeners;
    const problems = findNewProblems(before.problems, after.problems);
    for (const problem of problems) notifyHost(() => onProblem?.(problem));
    const found = findSessionChange(before, after);
    if (found === undefined) return;
    const change = { ...found, problems };
    for (const tell of [onChange, ...this.served]) notifyHost(() => tell?.(change));
  }
}
