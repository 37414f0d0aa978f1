import type { OutcomeRunner } from "../execution/code-runner.ts";
import type { CodeOwner } from "./tool-source.ts";

/** The runners of a session's code: one for each pack, one for the host's own tools; each made on first use. */
export class CodeRunners {
  readonly #create: (owner: CodeOwner) => Promise<OutcomeRunner>;
  readonly #runners = new Map<string, Promise<OutcomeRunner>>();

  constructor(create: (owner: CodeOwner) => Promise<OutcomeRunner>) {
    this.#create = create;
  }

  get(owner: CodeOwner): Promise<OutcomeRunner> {
    const key = owner.pack?.location ?? "";
    let runner = this.#runners.get(key);
    if (runner === undefined) {
      runner = this.#create(owner);
      this.#runners.set(key, runner);
    }
    return runner;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#runners.values()].map(async (runner) => (await runner).close()));
  }
}
