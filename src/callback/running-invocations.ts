import { whenAborted } from "../runtime/abort-listeners.ts";

/** A call that is running on a server, and what it has called back for. */
export interface RunningInvocation {
  readonly id: string;
  readonly server: string;
  readonly depth: number;
  /** Told, each, when the invocation is over. */
  readonly inFlight: Set<() => void>;
}

/** The invocations that may call back now. */
export class RunningInvocations {
  readonly #running = new Map<string, { invocation: RunningInvocation; forget: () => void }>();

  /** Throws for an id that is running: ids are unique. An aborted `signal` ends it like `end`. */
  begin(id: string, server: string, depth: number, signal: AbortSignal): void {
    if (this.#running.has(id)) throw new Error("An invocation of this id is already running");
    if (signal.aborted) return;
    this.#running.set(id, {
      invocation: { id, server, depth, inFlight: new Set() },
      forget: whenAborted(signal, () => this.end(id)),
    });
  }

  /** Ends it and aborts its callbacks in flight; nothing where it is not running. */
  end(id: string): void {
    const found = this.#running.get(id);
    if (found === undefined) return;
    this.#running.delete(id);
    found.forget();
    for (const abort of [...found.invocation.inFlight]) abort();
  }

  endAll(): void {
    for (const id of [...this.#running.keys()]) this.end(id);
  }

  /** Another server's counts as none. */
  find(id: string, server: string): RunningInvocation | undefined {
    const invocation = this.#running.get(id)?.invocation;
    return invocation?.server === server ? invocation : undefined;
  }
}
