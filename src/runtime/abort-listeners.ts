import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { attempt } from "../files/file-errors.ts";

/**
 * Cancels one call. Its `AbortSignal` costs as much as the rest of a call, so it is created only for those who ask for it:
 * the host's own code waits with `whenAborted`.
 */
export class CallStop {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;

  /** Aborts with the same reason, after those who wait with `whenAborted`. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    // A listener may take away others that have not been called.
    for (const listener of this.#listeners) listener();
    this.#controller?.abort(reason);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Use `whenAborted`, which takes signals too. */
  listen(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}

export type Cancellation = AbortSignal | CallStop;

/** Calls `listener` once when the signal aborts, unless the returned function is called first. */
export function whenAborted(signal: Cancellation, listener: () => void): () => void {
  if (signal instanceof CallStop) return signal.listen(listener);
  // Node warns of a leak above ten, and any number of calls may wait for a signal. It may be one of jsdom's.
  attempt(() => setMaxListeners(0, signal));
  const own = () => listener();
  signal.addEventListener("abort", own, { once: true });
  return () => signal.removeEventListener("abort", own);
}

/** The longest delay of Node's timers; they fire at once after a longer one. */
const longestMs = 2 ** 31 - 1;

/** A time in milliseconds, limited to what Node's timers accept. */
export const timerMs = (ms: number): number =>
  Number.isNaN(ms) || ms === -1 ? longestMs : Math.min(Math.ceil(ms), longestMs);

/** Resolves when the work settles, or after `limitMs`. Never rejects. Keeps the process alive until then. */
export async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  const over = new AbortController();
  const limit = setTimeout(timerMs(limitMs), undefined, { signal: over.signal });
  await Promise.race([work.catch(() => {}), limit]);
  over.abort();
}

/** Settles as the work does, or rejects with the signal's reason as soon as it aborts; the work's outcome is then dropped. */
export function abortable<T>(signal: Cancellation, start: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    // Registered before any listener of the pack's code, so that it runs first.
    const release = whenAborted(signal, () => reject(signal.reason));
    start().finally(release).then(resolve, reject);
  });
}
