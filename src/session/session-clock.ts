/** Time for the rules of a session; tests pass their own. */
export interface SessionClock {
  /** Milliseconds from any moment; it never goes back. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds, unless the returned function is called first. Keeps no process alive. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: SessionClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Returns whether something that has ended may be restarted: at most `most` times within `withinMs` milliseconds. */
export function createRestarts(
  { most, withinMs }: { most: number; withinMs: number },
  clock: SessionClock,
): () => boolean {
  let times: number[] = [];
  return () => {
    const now = clock.now();
    times = times.filter((time) => now - time < withinMs);
    if (times.length >= most) return false;
    times.push(now);
    return true;
  };
}
