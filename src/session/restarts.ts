import type { Clock } from "../runtime/clock.ts";

/** Returns whether something that has ended may be restarted: at most `most` times within `withinMs` milliseconds. */
export function createRestarts(
  { most, withinMs }: { most: number; withinMs: number },
  clock: Clock,
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
