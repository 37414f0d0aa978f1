import { randomUUID } from "node:crypto";
import { AskedResult } from "../mcp/questions.ts";
import { badRequest } from "../mcp/rpc-error.ts";
import type { CallChannel } from "../mcp/served-server.ts";
import { CallStop, whenAborted } from "../runtime/abort-listeners.ts";
import type { Clock } from "../runtime/clock.ts";
import type { InputAnswers, InputRequests, InputRequired, InputRound } from "../runtime/input-requests.ts";
import type { AskInput } from "../session/host-input.ts";

/** How many calls wait at once for clients that answer with another request. */
const mostHeld = 100;

type Outcome<Answer> = Answer | { inputRequired: InputRequired };

/** Runs a call. `ask` asks its client. */
type Run<Answer> = (channel: CallChannel, ask: AskInput) => Promise<Outcome<Answer>>;

/** Passes a question on to the client of a request, which stays open or, of a modern client, ends with it. */
const askThrough =
  ({ questions }: CallChannel): AskInput =>
  async ({ tool, requests }) => {
    const { input } = await questions.answer<InputRound>({ tool, requests }, async (round) =>
      round === undefined ? { inputRequired: { requests } } : round,
    );
    return input;
  };

/** A question that a server waits for in the middle of its call. */
interface OpenQuestion {
  requests: InputRequests;
  answer(input: InputAnswers): void;
  refuse(error: Error): void;
}

const cancelAll = (requests: InputRequests): InputAnswers =>
  Object.fromEntries(Object.keys(requests).map((key) => [key, { action: "cancel" }]));

/** A call of a modern client, which outlives the request that began it while its client is asked. */
class HeldCall {
  readonly #stop = new CallStop();
  readonly #questions: OpenQuestion[] = [];
  readonly outcome: Promise<object>;
  /** That of the request that waits for the call; `undefined` while the client is asked. */
  #channel: CallChannel | undefined;
  #wake = () => {};
  #wasHeld = false;
  #isAbandoned = false;
  /** Forgets the handle under which the call is held. */
  forget = () => {};

  constructor(channel: CallChannel, run: Run<object>) {
    this.#channel = channel;
    const current: CallChannel = {
      signal: this.#stop,
      depth: channel.depth,
      log: (level, data) => this.#channel?.log(level, data),
      progress: (progress, total, message) => this.#channel?.progress(progress, total, message),
      questions: channel.questions,
    };
    this.outcome = run(current, (round) => {
      // What the server has been told would be lost if the call began again.
      if (!round.isWaiting && !this.#wasHeld) return askThrough(channel)(round);
      return this.#ask(round.requests, round.signal);
    });
    this.outcome.catch(() => {});
  }

  #ask(requests: InputRequests, signal: AbortSignal): Promise<InputAnswers> {
    signal.throwIfAborted();
    if (this.#isAbandoned) return Promise.resolve(cancelAll(requests));
    return new Promise((resolve, reject) => {
      const remove = () => {
        const index = this.#questions.indexOf(question);
        if (index >= 0) this.#questions.splice(index, 1);
        release();
      };
      const question: OpenQuestion = {
        requests,
        answer(input) {
          remove();
          resolve(input);
        },
        refuse(error) {
          remove();
          reject(error);
        },
      };
      const release = whenAborted(signal, () => {
        remove();
        reject(signal.reason);
      });
      this.#questions.push(question);
      this.#wake();
    });
  }

  /** The next question, or the outcome. Ends the call if the request ends without either. */
  async attend(channel: CallChannel): Promise<OpenQuestion | { outcome: object }> {
    this.#channel = channel;
    const { signal } = channel;
    const release = whenAborted(signal, () => {
      if (this.#channel !== channel) return;
      this.#channel = undefined;
      // The request of a client that is asked ends like this.
      if (!this.#wasHeld || !(signal.reason instanceof AskedResult)) this.end(signal.reason);
    });
    if (signal.aborted) this.end(signal.reason);
    const asked = new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#questions.length > 0) resolve();
    });
    const outcome = await Promise.race([this.outcome, asked]);
    if (outcome !== undefined) {
      release();
      return { outcome };
    }
    const [question] = this.#questions;
    // Its server may have withdrawn it.
    if (question === undefined) return this.attend(channel);
    this.#wasHeld = true;
    return question;
  }

  /** Cancels the questions, also later ones. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const question of [...this.#questions]) question.answer(cancelAll(question.requests));
  }

  end(reason: unknown): void {
    this.forget();
    this.#stop.abort(reason);
  }
}

/**
 * Calls whose servers wait for answers of modern clients. Such a client answers with another request, whose sealed state has
 * the handle of its call.
 */
export class HeldCalls {
  readonly #held = new Map<string, { call: HeldCall; question: OpenQuestion }>();
  readonly #inputMs: () => number;
  readonly #clock: Clock;

  /** `inputMs`: how long a client may take to answer; then the question is canceled. Milliseconds. */
  constructor(inputMs: () => number, clock: Clock) {
    this.#inputMs = inputMs;
    this.#clock = clock;
  }

  /**
   * Runs a call for a request, or goes on with the one that `round` names. Rejects as `run` does, and with `RpcError` for a
   * call that is not held.
   */
  async answer<Answer extends object>(
    channel: CallChannel,
    round: Partial<InputRound> | undefined,
    run: Run<Answer>,
  ): Promise<Outcome<Answer>> {
    if (channel.questions.canWait) return run(channel, askThrough(channel));
    const call = round?.held === undefined ? new HeldCall(channel, run) : this.#resume(round.held, round);
    for (;;) {
      const next = await call.attend(channel);
      if ("outcome" in next) return next.outcome as Outcome<Answer>;
      if (this.#held.size < mostHeld) return { inputRequired: this.#hold(call, next) };
      next.refuse(new Error("Too many calls wait for answers of their clients."));
    }
  }

  #hold(call: HeldCall, question: OpenQuestion): InputRequired {
    const held = randomUUID();
    const endTime = this.#clock.after(this.#inputMs(), () => {
      call.forget();
      call.abandon();
    });
    call.forget = () => {
      endTime();
      this.#held.delete(held);
    };
    this.#held.set(held, { call, question });
    return { requests: question.requests, held };
  }

  #resume(handle: string, { input = {} }: Partial<InputRound>): HeldCall {
    const entry = this.#held.get(handle);
    if (entry === undefined) {
      const reason = "it has ended, was answered already, or waits in another process";
      throw badRequest(
        `The call that params.requestState names does not wait here: ${reason}. Make the request again without it.`,
      );
    }
    const { call, question } = entry;
    call.forget();
    // What is missing is asked again.
    if (Object.keys(question.requests).every((key) => Object.hasOwn(input, key))) question.answer(input);
    return call;
  }

  /** Ends the calls, because their client has gone. */
  close(): void {
    for (const { call } of [...this.#held.values()]) call.end(new Error("The client has gone."));
  }
}
