import { timerMs } from "./abort-listeners.ts";

/** Time for rules. Tests replace its functions. */
export const clock = {
  /** Milliseconds from any moment; it never goes back. */
  now: () => performance.now(),
  /** Calls `run` once after `ms` milliseconds, unless the returned function is called first. Keeps no process alive. */
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** The time of a call, which stands still while the user is asked. */
export class TimeLimit {
  readonly ms: number;
  isOver = false;
  readonly #onOver: () => void;
  #restMs: number;
  /** When the time last began to run. */
  #since = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Begins at once. Milliseconds. Keeps the process alive. */
  constructor(ms: number, onOver: () => void) {
    this.ms = Math.max(1, timerMs(ms));
    this.#restMs = this.ms;
    this.#onOver = onOver;
    this.#run();
  }

  #run(): void {
    this.#since = performance.now();
    const onOver = () => {
      this.isOver = true;
      this.#onOver();
    };
    this.#timer = setTimeout(onOver, Math.max(1, Math.ceil(this.#restMs)));
  }

  /** Stops the time until the returned function is called, once, and that of other pauses. */
  pause(): () => void {
    if (this.#pauses === 0) this.#restMs -= performance.now() - this.#since;
    this.end();
    return () => {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#run();
    };
  }

  /** Ends it for good; nothing is called any more. */
  end(): void {
    this.#pauses += 1;
    clearTimeout(this.#timer);
  }
}
