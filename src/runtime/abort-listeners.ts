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
