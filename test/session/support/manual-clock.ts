import { onTestFinished, vi } from "vitest";
import { clock } from "../../../src/runtime/time-limit.ts";

export interface ManualClock {
  /** The delays of the timers that have not fired, in milliseconds from now, in order. */
  readonly delays: number[];
  /** Lets time pass; timers that are due fire in order. */
  advance(ms: number): void;
}

/** The clock of all rules, which stands still until the test advances it. */
export function createManualClock(): ManualClock {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const due = (until: number) => timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  const reading = vi.spyOn(clock, "now").mockImplementation(() => now);
  const waiting = vi.spyOn(clock, "after").mockImplementation((ms, run) => {
    const timer = { at: now + ms, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((one) => one !== timer);
    };
  });
  onTestFinished(() => {
    reading.mockRestore();
    waiting.mockRestore();
  });
  return {
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
