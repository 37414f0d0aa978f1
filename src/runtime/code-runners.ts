import type { CodeDiedError } from "./code-died-error.ts";
import { cutTail, shownTailBytes } from "./output-tail.ts";
import type { OutcomeRunner } from "./tool-code.ts";
import type { CodeOwner } from "./tool-source.ts";

const keyOf = ({ pack }: CodeOwner) => pack?.location ?? "";

/** A death in words, and the end of what the code wrote, as for a server: both without what `redact` takes out. */
export function describeCodeDeath(
  { message, stderrTail }: CodeDiedError,
  redact: (text: string) => string,
): { message: string; stderr: string } {
  // Cut only now: of a value that is cut in two, nobody would know the rest.
  const stderr = cutTail(redact(stderrTail), shownTailBytes);
  const said = stderr.trim();
  return { message: redact(said === "" ? message : `${message}\n${said}`), stderr };
}

/** The runners of a session's code: one for each pack, one for the host's own tools; each made on first use. */
export class CodeRunners {
  readonly #create: (owner: CodeOwner) => Promise<OutcomeRunner>;
  readonly #deaths = new Map<string, CodeDiedError>();
  readonly #renewed = new Set<string>();
  readonly #runners = new Map<string, Promise<OutcomeRunner>>();

  constructor(create: (owner: CodeOwner) => Promise<OutcomeRunner>) {
    this.#create = create;
  }

  get(owner: CodeOwner): Promise<OutcomeRunner> {
    const key = keyOf(owner);
    let runner = this.#runners.get(key);
    if (runner === undefined) {
      runner = this.#create(owner);
      this.#runners.set(key, runner);
    }
    return runner;
  }

  /** The death of an owner's runner, until it is renewed. */
  deathOf(owner: CodeOwner): CodeDiedError | undefined {
    return this.#deaths.get(keyOf(owner));
  }

  noteDeath(owner: CodeOwner, death: CodeDiedError): void {
    this.#deaths.set(keyOf(owner), death);
  }

  /** Lets the next call have a new runner in place of one that died; once an owner. True if it does. */
  renew(owner: CodeOwner): boolean {
    const key = keyOf(owner);
    if (this.#renewed.has(key)) return false;
    this.#renewed.add(key);
    this.#deaths.delete(key);
    return this.#runners.delete(key);
  }

  /** Lets the next call have a new runner, as often as it takes. */
  forget(owner: CodeOwner): void {
    this.#runners.delete(keyOf(owner));
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#runners.values()].map(async (runner) => (await runner).close()));
  }
}
