import type { ProcessPort } from "../processes/server-process.ts";
import { cutTail, shownTailBytes } from "./process-output.ts";
import type { CodeExitError, CodeOwner, OutcomeRunner } from "./tool-code.ts";

const keyOf = ({ pack, content = "" }: CodeOwner) =>
  pack === undefined ? "" : `${pack.location}\n${content}`;

/** The exit as a message, and the tail of the code's output, which is not for clients and models; both redacted. */
export function describeCodeExit(
  { message, stderrTail }: CodeExitError,
  redact: (text: string) => string,
): { message: string; stderr: string } {
  // Redact before cutting: half a secret would not be recognized.
  const stderr = cutTail(redact(stderrTail), shownTailBytes);
  return { message: redact(message), stderr };
}

/** The runners of a session's code, one for each pack and one for the host's own tools, created on first use. */
export class CodeRunners {
  readonly #create: (owner: CodeOwner) => Promise<OutcomeRunner>;
  readonly #exits = new Map<string, CodeExitError>();
  /** By owner: whether its process may be restarted. */
  readonly #restarts = new Map<string, () => boolean>();
  readonly #holders = new Map<string, number>();
  readonly #createRestarts: () => () => boolean;
  readonly #runners = new Map<string, Promise<OutcomeRunner>>();

  /** `createRestarts` returns, for one owner, whether its process may be restarted after an exit. */
  constructor(
    create: (owner: CodeOwner) => Promise<OutcomeRunner>,
    createRestarts: () => () => boolean = () => () => false,
  ) {
    this.#create = create;
    this.#createRestarts = createRestarts;
  }

  /** Keeps an owner's runner until the returned function is called. It is closed when the last one is. */
  hold(owner: CodeOwner): () => void {
    const key = keyOf(owner);
    this.#holders.set(key, (this.#holders.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#holders.get(key) ?? 1) - 1;
      this.#holders.set(key, left);
      if (left === 0) this.#drop(key);
    };
  }

  #drop(key: string): void {
    const runner = this.#runners.get(key);
    for (const map of [this.#runners, this.#exits, this.#restarts, this.#holders]) map.delete(key);
    runner?.then((one) => one.close()).catch(() => {});
  }

  get(owner: CodeOwner): Promise<OutcomeRunner> {
    const key = keyOf(owner);
    let runner = this.#runners.get(key);
    if (runner === undefined) {
      const created = this.#create(owner);
      this.#runners.set(key, created);
      created.catch(() => this.#runners.get(key) === created && this.#runners.delete(key));
      runner = created;
    }
    return runner;
  }

  /** How an owner's process exited; `undefined` after `renew`. */
  exitOf(owner: CodeOwner): CodeExitError | undefined {
    return this.#exits.get(keyOf(owner));
  }

  noteExit(owner: CodeOwner, exit: CodeExitError): void {
    this.#exits.set(keyOf(owner), exit);
  }

  /** Lets the next call create a new runner after an exit if it may be restarted. Returns whether it does. */
  renew(owner: CodeOwner): boolean {
    const key = keyOf(owner);
    const mayRestart = this.#restarts.get(key) ?? this.#createRestarts();
    this.#restarts.set(key, mayRestart);
    if (!mayRestart()) return false;
    this.#exits.delete(key);
    return this.#runners.delete(key);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#runners.values()].map(async (runner) => (await runner).close()));
  }
}

/** How to run the code of a pack, or of the host itself. */
interface RunnerOptions {
  /** Absolute path that contains its modules. */
  root: string;
  /** True for the host's own code, whose late errors end the process. */
  trusted: boolean;
  /** The complete environment of the child process; `undefined` to run the code in this process. */
  child:
    | {
        env: Readonly<Record<string, string>>;
        onOutput(chunk: Buffer): void;
        processes: ProcessPort;
      }
    | undefined;
  onLateError(message: string): void;
}

/** Creates the runner of one owner's code. Imports only the kind of runner that it needs. */
export async function createRunner({
  root,
  trusted,
  child,
  onLateError,
}: RunnerOptions): Promise<OutcomeRunner & { readonly exit?: Promise<CodeExitError> }> {
  if (child === undefined) {
    const { createInProcessRunner } = await import("./in-process-runner.ts");
    return createInProcessRunner({ root, trusted, onLateError });
  }
  const { createProcessRunner } = await import("./process-runner.ts");
  return createProcessRunner({ root, ...child, onLateError });
}
