import { failure } from "../problems/index.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";

/**
 * Everything that a session has started. All of it ends when the session is closed, when its start fails or is aborted,
 * or when an exit ends the session. What is added later is ended immediately.
 */
export class SessionResources {
  readonly #closing = new AbortController();
  readonly #ends = new Set<() => Promise<unknown>>();
  #ending: Promise<void> | undefined;

  constructor() {
    this.#closing.signal.addEventListener("abort", () => void this.end(), { once: true });
  }

  /** Aborted with the reason when the session ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends the session when the user's signal aborts. */
  follow(signal: AbortSignal): void {
    signal.throwIfAborted();
    const forget = whenAborted(signal, () => this.close(signal.reason));
    this.#ends.add(async () => forget());
  }

  /**
   * Adds a resource; the returned function forgets it after its end. If the session has ended, ends the resource and throws
   * the session's reason.
   */
  add(end: () => Promise<unknown>): () => void {
    if (this.#closing.signal.aborted) {
      end().catch(() => {});
      throw this.#closing.signal.reason;
    }
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  /** Settles as the work does, or rejects when the session ends first. */
  async step<Value>(work: Promise<Value>): Promise<Value> {
    const value = await work;
    this.#closing.signal.throwIfAborted();
    return value;
  }

  /** Ends the session with a reason, and everything in it. Idempotent. */
  close(reason: unknown = failure("SessionClosed", { reason: undefined })): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closing.abort(reason);
    return this.end();
  }

  /** Ends everything in parallel; resolves when all of it has ended. */
  end(): Promise<void> {
    this.#ending ??= Promise.allSettled([...this.#ends].map((end) => end())).then(() => {});
    return this.#ending;
  }
}
