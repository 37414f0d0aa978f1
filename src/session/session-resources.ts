import { failure } from "../problems/index.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";

/**
 * Everything that a session has started, so that all of it ends with the session: when it is closed, when its start
 * fails or is given up, when a death ends it. What is started too late is ended at once.
 */
export class SessionResources {
  readonly #closing = new AbortController();
  readonly #ends = new Set<() => Promise<unknown>>();
  #ending: Promise<void> | undefined;

  constructor() {
    this.#closing.signal.addEventListener("abort", () => void this.end(), { once: true });
  }

  /** Aborted, with the reason, when the session is over. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Makes the session's end that of a signal of the user's, until the session is over. */
  follow(signal: AbortSignal): void {
    signal.throwIfAborted();
    const forget = whenAborted(signal, () => this.close(signal.reason));
    this.#ends.add(async () => forget());
  }

  /** Takes over what was started. Throws the reason of the session's end, after ending it, where that came first. */
  add(end: () => Promise<unknown>): void {
    if (this.#closing.signal.aborted) {
      end().catch(() => {});
      throw this.#closing.signal.reason;
    }
    this.#ends.add(end);
  }

  /** What a step of the start came to, unless the session is over meanwhile. */
  async step<Value>(work: Promise<Value>): Promise<Value> {
    const value = await work;
    this.#closing.signal.throwIfAborted();
    return value;
  }

  /** Says why the session is over, and ends everything. Idempotent. */
  close(reason: unknown = failure("SessionClosed", { reason: undefined })): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closing.abort(reason);
    return this.end();
  }

  /** Ends everything at once; resolves when all of it has ended. */
  end(): Promise<void> {
    this.#ending ??= Promise.allSettled([...this.#ends].map((end) => end())).then(() => {});
    return this.#ending;
  }
}
