/** The listeners of each signal that still has some. */
const waiting = new WeakMap<AbortSignal, { listeners: Set<() => void>; tell: () => void }>();

/**
 * Calls `listener` once when the signal aborts, unless the returned function is called first. Registers one listener
 * per signal, however many callers wait for it: Node warns of a leak above ten.
 */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  let entry = waiting.get(signal);
  if (entry === undefined) {
    const listeners = new Set<() => void>();
    const tell = () => {
      waiting.delete(signal);
      for (const one of listeners) one();
    };
    entry = { listeners, tell };
    waiting.set(signal, entry);
    signal.addEventListener("abort", tell, { once: true });
  }
  const { listeners, tell } = entry;
  const own = () => listener();
  listeners.add(own);
  return () => {
    listeners.delete(own);
    if (listeners.size > 0 || waiting.get(signal)?.listeners !== listeners) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", tell);
  };
}

/** The longest delay of Node's timers; they fire at once after a longer one. */
const longestMs = 2 ** 31 - 1;

/** A time in milliseconds, limited to what Node's timers accept. */
export const timerMs = (ms: number): number =>
  Number.isNaN(ms) ? longestMs : Math.min(Math.ceil(ms), longestMs);

/** Resolves when the work settles, or after `limitMs`. Never rejects. Keeps the process alive until then. */
export async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(limitMs));
  });
  await Promise.race([work.catch(() => {}), limit]);
  clearTimeout(timer);
}

/** Settles as the work does, or rejects with the signal's reason as soon as it aborts; the work's outcome is then dropped. */
export function abortable<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    // Registered before any listener of the pack's code, so that it runs first.
    const release = whenAborted(signal, () => reject(signal.reason));
    start().then(resolve, reject).finally(release);
  });
}
