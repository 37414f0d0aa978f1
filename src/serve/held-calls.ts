import { randomUUID } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import { rpcCode } from "../mcp/client-message.ts";
import { AskedResult } from "../mcp/questions.ts";
import { RpcError } from "../mcp/rpc-error.ts";
import type { CallChannel } from "../mcp/served-server.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import type { InputAnswers, InputRequests, InputRequired } from "../runtime/input-requests.ts";

/** The key of the state with which a client's next request finds its call. */
const heldKey = "trailblaze/heldCall";
/** How many calls may wait for their clients at once. */
const mostHeld = 100;

type Outcome<Result> = { result: Result } | { inputRequired: InputRequired };

/** A call that outlives the request that made it. */
export interface LastingCall {
  /** Of the request that is open; `undefined` while the client is asked. */
  readonly channel: CallChannel | undefined;
  /** Aborts when an open request of the call ends early, or the client does not answer in time. */
  readonly signal: AbortSignal;
  /** Asks the client of the open request, which ends with the question. */
  ask(requests: InputRequests): Promise<InputAnswers>;
}

class HeldCall<Result> implements LastingCall {
  channel: CallChannel | undefined;
  readonly #stop = new AbortController();
  readonly signal = this.#stop.signal;
  readonly #mayWait: () => boolean;
  #result: Promise<Outcome<Result>> | undefined;
  #answer: ((input: InputAnswers) => void) | undefined;
  #tell: (requests: InputRequests) => void = () => {};

  /** `mayWait`: whether one more call may be held. */
  constructor(mayWait: () => boolean) {
    this.#mayWait = mayWait;
  }

  ask(requests: InputRequests): Promise<InputAnswers> {
    if (this.channel === undefined || !this.#mayWait())
      return Promise.reject(new Error("The client cannot be asked in the middle of this request."));
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#tell(requests);
    });
  }

  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Goes on with the call for a request, until it ends or asks. */
  async next(
    channel: CallChannel,
    start: (() => Promise<Result>) | undefined,
    input?: InputAnswers,
  ): Promise<{ result: Result } | { asked: InputRequests }> {
    this.channel = channel;
    const asked = new Promise<{ asked: InputRequests }>((resolve) => {
      this.#tell = (requests) => resolve({ asked: requests });
    });
    const release = whenAborted(channel.signal, () => this.abort(channel.signal.reason));
    try {
      if (start !== undefined) this.#result = start().then((result) => ({ result }));
      else this.#answer?.(input ?? {});
      return (await Promise.race([this.#result, asked])) as { result: Result } | { asked: InputRequests };
    } finally {
      release();
      this.channel = undefined;
    }
  }
}

/** Calls of modern clients that a server asks in the middle of its own: the answers come with another request. */
export class HeldCalls<Result> {
  readonly #held = new Map<string, HeldCall<Result>>();
  readonly #limitMs: () => number;

  /** `limitMs`: how long a client may take to answer. */
  constructor(limitMs: () => number) {
    this.#limitMs = limitMs;
  }

  /** Whether a request goes on with a call that was held. */
  static isHeld = (state: unknown): boolean => isRecord(state) && Object.hasOwn(state, heldKey);

  /** Runs a call until it ends or asks. Rejects as `start` does. */
  async begin(channel: CallChannel, start: (call: LastingCall) => Promise<Result>): Promise<Outcome<Result>> {
    const call = new HeldCall<Result>(() => this.#held.size < mostHeld);
    return this.#settle(call, channel, await call.next(channel, () => start(call)));
  }

  /** Goes on with a held call. Throws `RpcError` if this process holds none for the state. */
  async resume(channel: CallChannel, state: unknown, input: InputAnswers = {}): Promise<Outcome<Result>> {
    const id = isRecord(state) ? String(state[heldKey]) : "";
    const call = this.#held.get(id);
    this.#held.delete(id);
    if (call === undefined)
      throw new RpcError(
        rpcCode.params,
        "The call that asked is over, or another replica has it. Make the call again.",
      );
    return this.#settle(call, channel, await call.next(channel, undefined, input));
  }

  #settle(
    call: HeldCall<Result>,
    channel: CallChannel,
    outcome: { result: Result } | { asked: InputRequests },
  ): Outcome<Result> {
    if ("result" in outcome) return outcome;
    const id = randomUUID();
    this.#held.set(id, call);
    const drop = (reason: unknown) => {
      if (this.#held.get(id) !== call) return;
      this.#held.delete(id);
      call.abort(reason);
    };
    const over = new DOMException("The client did not answer in time.", "TimeoutError");
    setTimeout(drop, this.#limitMs(), over).unref();
    // The request ends with the question. If it ends otherwise, nobody will answer.
    const { signal } = channel;
    whenAborted(signal, () => {
      if (!(signal.reason instanceof AskedResult)) drop(signal.reason);
    });
    return { inputRequired: { requests: outcome.asked, state: { [heldKey]: id } } };
  }
}
