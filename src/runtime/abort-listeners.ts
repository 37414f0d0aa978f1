/** Of each signal, who is told when it aborts. */
const waiting = new WeakMap<AbortSignal, { listeners: Set<() => void>; tell: () => void }>();

/**
 * Calls `listener` once when the signal aborts, unless the returned function was called before. However many wait for
 * one signal, it has a single listener, as Node warns of leaks above ten.
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

/** The longest that Node's timers can wait; they fire at once after more. */
const longestMs = 2 ** 31 - 1;

/** A time in milliseconds as Node's timers take it. */
export const timerMs = (ms: number): number =>
  Number.isNaN(ms) ? longestMs : Math.min(Math.ceil(ms), longestMs);

/** Resolves with the work, or after `limitMs` without it. Never rejects. Holds the process until then. */
export async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(limitMs));
  });
  await Promise.race([work.catch(() => {}), limit]);
  clearTimeout(timer);
}

/** What the work comes to, or at once the reason of the signal; the work is then left behind, its end dropped. */
export function abortable<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    // Before anything of the pack's listens, so that this is what comes first.
    const release = whenAborted(signal, () => reject(signal.reason));
    start().then(resolve, reject).finally(release);
  });
}
