/** Time for rules; tests pass their own. */
export interface Clock {
  /** Milliseconds from any moment; it never goes back. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds, unless the returned function is called first. Keeps no process alive. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};
