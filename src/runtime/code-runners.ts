import { cutTail, shownTailBytes } from "./process-output.ts";
import type { CodeExitError, CodeOwner, CodeRunner } from "./tool-code.ts";

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

/** What is kept of one owner. */
interface OwnedCode {
  /** Created on first use. */
  runner: Promise<CodeRunner> | undefined;
  /** How its process exited, if it was not restarted. */
  exit: CodeExitError | undefined;
  /** Whether its process may be restarted after an exit; created at the first one. */
  mayRestart: (() => boolean) | undefined;
  holders: number;
}

/** The runners of a session's code, one for each pack and one for the host's own tools. */
export class CodeRunners {
  readonly #create: (owner: CodeOwner) => Promise<CodeRunner>;
  readonly #createRestarts: () => () => boolean;
  readonly #owned = new Map<string, OwnedCode>();

  /** `createRestarts` returns, for one owner, whether its process may be restarted after an exit. */
  constructor(create: (owner: CodeOwner) => Promise<CodeRunner>, createRestarts: () => () => boolean) {
    this.#create = create;
    this.#createRestarts = createRestarts;
  }

  #of(owner: CodeOwner): OwnedCode {
    const key = keyOf(owner);
    let owned = this.#owned.get(key);
    if (owned === undefined) {
      owned = { runner: undefined, exit: undefined, mayRestart: undefined, holders: 0 };
      this.#owned.set(key, owned);
    }
    return owned;
  }

  /** Keeps an owner's runner until the returned function is called, once. It is closed when the last one is. */
  hold(owner: CodeOwner): () => void {
    const owned = this.#of(owner);
    owned.holders++;
    return () => {
      if (--owned.holders > 0) return;
      this.#owned.delete(keyOf(owner));
      owned.runner?.then((one) => one.close()).catch(() => {});
    };
  }

  get(owner: CodeOwner): Promise<CodeRunner> {
    const owned = this.#of(owner);
    if (owned.runner !== undefined) return owned.runner;
    const created = this.#create(owner);
    owned.runner = created;
    created.catch(() => {
      if (owned.runner === created) owned.runner = undefined;
    });
    return created;
  }

  /** How an owner's process exited, unless the next call gets a new one. */
  exitOf(owner: CodeOwner): CodeExitError | undefined {
    return this.#owned.get(keyOf(owner))?.exit;
  }

  /** Returns whether the next call creates a new runner. */
  noteExit(owner: CodeOwner, exit: CodeExitError): boolean {
    const owned = this.#of(owner);
    owned.mayRestart ??= this.#createRestarts();
    const isRestarted = owned.mayRestart();
    owned.exit = isRestarted ? undefined : exit;
    if (isRestarted) owned.runner = undefined;
    return isRestarted;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#owned.values()].map(async ({ runner }) => (await runner)?.close()));
  }
}
