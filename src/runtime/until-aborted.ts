import { whenAborted } from "./abort-listeners.ts";

/** What the work comes to, or at once the reason of the signal; the work is then left behind, its end dropped. */
export function untilAborted<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
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
