import { type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";

/** A running call of a server, with its open callbacks. */
export interface RunningInvocation {
  readonly id: string;
  /** Id of the session that it belongs to, if that is one of several that share the server. */
  readonly clientSession: string | undefined;
  readonly server: string;
  readonly depth: number;
  /** Each is called when the invocation ends. */
  readonly inFlight: Set<() => void>;
}

/** The invocations that may call back. */
export class RunningInvocations {
  readonly #running = new Map<string, { invocation: RunningInvocation; forget: () => void }>();

  /** Starts an invocation, which `end` or an aborted `signal` ends. Throws for an id that is running. */
  begin(id: string, server: string, depth: number, signal: Cancellation, clientSession?: string): void {
    if (this.#running.has(id)) throw new Error("An invocation with this id is already running");
    if (signal.aborted) return;
    this.#running.set(id, {
      invocation: { id, server, depth, clientSession, inFlight: new Set() },
      forget: whenAborted(signal, () => this.end(id)),
    });
  }

  /** Ends an invocation and aborts its open callbacks. Ignores unknown ids. */
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

  /** A running invocation of this server; `undefined` for one of another server. */
  find(id: string, server: string): RunningInvocation | undefined {
    const invocation = this.#running.get(id)?.invocation;
    return invocation?.server === server ? invocation : undefined;
  }
}
