import { type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import { OpenEntries } from "../runtime/open-entries.ts";

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
  readonly #running = new OpenEntries<string, RunningInvocation & { forget: () => void }>();

  /** Starts an invocation, which `end` or an aborted `signal` ends. Throws for an id that is running. */
  begin(id: string, server: string, depth: number, signal: Cancellation, clientSession?: string): void {
    if (this.#running.find(id) !== undefined)
      throw new Error("An invocation with this id is already running");
    if (signal.aborted) return;
    const forget = whenAborted(signal, () => this.end(id));
    this.#running.add({ id, server, depth, clientSession, inFlight: new Set(), forget });
  }

  /** Ends an invocation and aborts its open callbacks. Ignores unknown ids. */
  end(id: string): void {
    const found = this.#running.remove(id);
    if (found === undefined) return;
    found.forget();
    for (const abort of [...found.inFlight]) abort();
  }

  endAll(): void {
    for (const { id } of this.#running.all()) this.end(id);
  }

  /** A running invocation of this server; `undefined` for one of another server. */
  find(id: string, server: string): RunningInvocation | undefined {
    const invocation = this.#running.find(id);
    return invocation?.server === server ? invocation : undefined;
  }
}
