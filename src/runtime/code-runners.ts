import type { CodeDiedError } from "./code-died-error.ts";
import { cutTail, shownTailBytes } from "./process-output.ts";
import type { OutcomeRunner } from "./tool-code.ts";
import type { CodeOwner } from "./tool-source.ts";

const keyOf = ({ pack }: CodeOwner) => pack?.location ?? "";

/** The exit as a message, and the tail of the code's output, both redacted. */
export function describeCodeExit(
  { message, stderrTail }: CodeDiedError,
  redact: (text: string) => string,
): { message: string; stderr: string } {
  // Redact before cutting: half a secret would not be recognized.
  const stderr = cutTail(redact(stderrTail), shownTailBytes);
  const said = stderr.trim();
  return { message: redact(said === "" ? message : `${message}\n${said}`), stderr };
}

/** The runners of a session's code, one for each pack and one for the host's own tools, created on first use. */
export class CodeRunners {
  readonly #create: (owner: CodeOwner) => Promise<OutcomeRunner>;
  readonly #exits = new Map<string, CodeDiedError>();
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

  /** How an owner's process exited; `undefined` after `renew`. */
  exitOf(owner: CodeOwner): CodeDiedError | undefined {
    return this.#exits.get(keyOf(owner));
  }

  noteExit(owner: CodeOwner, exit: CodeDiedError): void {
    this.#exits.set(keyOf(owner), exit);
  }

  /** Lets the next call create a new runner after an exit, once per owner. Returns whether it does. */
  renew(owner: CodeOwner): boolean {
    const key = keyOf(owner);
    if (this.#renewed.has(key)) return false;
    this.#renewed.add(key);
    this.#exits.delete(key);
    return this.#runners.delete(key);
  }

  /** Lets the next call create a new runner, any number of times. */
  forget(owner: CodeOwner): void {
    this.#runners.delete(keyOf(owner));
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#runners.values()].map(async (runner) => (await runner).close()));
  }
}
