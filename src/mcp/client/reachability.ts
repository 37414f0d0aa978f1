import type { Clock } from "../../runtime/clock.ts";

export interface ReachabilityOptions {
  /** How long a server may be unreachable. Milliseconds. */
  limitMs: number;
  clock: Clock;
  /** Sends any request. What comes of it is reported by `noteAnswer` and `noteFailure`. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** Called once, with the last failure. */
  onLost(reason: string): void;
}

const firstDelayMs = 250;
const longestDelayMs = 5000;

/** Whether a remote server can be reached. After a failure, probes it until it answers or the limit is over. */
export class Reachability {
  readonly #options: ReachabilityOptions;
  #state: "reachable" | "closed" | { since: number; reason: string; resolve(): void; wait: Promise<void> } =
    "reachable";
  #cancel = () => {};

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /** No connection, or a lost one. */
  noteFailure(reason: string): void {
    const state = this.#state;
    if (state === "closed") return;
    if (state !== "reachable") {
      state.reason = reason;
      return;
    }
    let resolve = () => {};
    const wait = new Promise<void>((done) => {
      resolve = done;
    });
    this.#state = { since: this.#options.clock.now(), reason, resolve, wait };
    this.#schedule(firstDelayMs);
  }

  /** Any answer, also an error. */
  noteAnswer(): void {
    this.#end("reachable");
  }

  get isReachable(): boolean {
    return this.#state === "reachable";
  }

  /** Resolves when the server is reachable, and when it is lost or closed. */
  async wait(): Promise<void> {
    if (typeof this.#state === "object") await this.#state.wait;
  }

  close(): void {
    this.#end("closed");
  }

  #end(as: "reachable" | "closed"): void {
    const state = this.#state;
    if (state === "closed") return;
    this.#state = as;
    if (typeof state !== "object") return;
    this.#cancel();
    state.resolve();
  }

  #restMs(): number {
    if (typeof this.#state !== "object") return 0;
    const { clock, limitMs } = this.#options;
    return this.#state.since + limitMs - clock.now();
  }

  #schedule(delayMs: number): void {
    const { clock, onLost } = this.#options;
    const state = this.#state;
    if (typeof state !== "object") return;
    const restMs = this.#restMs();
    if (restMs <= 0) {
      this.close();
      onLost(state.reason);
      return;
    }
    this.#cancel = clock.after(Math.min(delayMs, restMs), () => void this.#probe(delayMs));
  }

  async #probe(delayMs: number): Promise<void> {
    const { clock, probe } = this.#options;
    const stop = new AbortController();
    const state = this.#state;
    this.#cancel = clock.after(Math.max(0, this.#restMs()), () => stop.abort());
    await probe(stop.signal).catch(() => {});
    // The same failure, not a later one.
    if (this.#state !== state) return;
    this.#cancel();
    this.#schedule(Math.min(2 * delayMs, longestDelayMs));
  }
}
