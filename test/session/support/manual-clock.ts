import { onTestFinished, vi } from "vitest";
import type { Clock } from "../../../src/runtime/time-limit.ts";

export interface ManualClock extends Clock {
  /** The delays of the timers that have not fired, in milliseconds from now, in order. */
  readonly delays: number[];
  /** Lets time pass; timers that are due fire in order. */
  advance(ms: number): void;
}

/** A clock that stands still until a test advances it. */
export function createManualClock(): ManualClock {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const due = (until: number) => timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    get delays() {
      return timers.map(({ at }) => at - now).sort((a, b) => a - b);
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = due(until); timer !== undefined; timer = due(until)) {
        const { at, run } = timer;
        timers = timers.filter((one) => one !== timer);
        now = at;
        run();
      }
      now = until;
    },
  };
}

/** From here on, time passes only while a test lets it, in this process. */
export function standTimeStill() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}
