import { createProblem } from "../problems/index.ts";
import { abortable, whenAborted } from "../runtime/abort-listeners.ts";
import type { InputAnswer, InputAnswers, InputRequest, InputRequests } from "../runtime/handler-context.ts";
import { isAnswer, settleAnswers } from "../runtime/input-rounds.ts";
import type { SessionFrame } from "./session-frame.ts";

/** What a tool, prompt or resource asks the user. Its strings are the author's or the server's, and not trusted. */
export interface InputQuestion {
  /** The key of the one who asks. */
  key: string;
  /** The advertised name of the tool that asks, the name of the prompt, or the URI of the resource. */
  tool: string;
  message: string;
  /** For a form: a JSON Schema of one flat object. */
  schema?: Readonly<Record<string, unknown>>;
  /** For a page that the user should visit. `accept` says that the user agrees, not that the visit is over. */
  url?: string;
  /** Aborts when the answer is no longer needed: the call or the session has ended, or the time is over. */
  signal: AbortSignal;
}

/** Asks the user. The content of a form is checked against its schema: what breaks it is a decline. */
export type OnInput = (question: InputQuestion) => InputAnswer | Promise<InputAnswer>;

/** What one round asks, and who. */
export interface AskedRound {
  tool: string;
  requests: InputRequests;
  /** Whether a server waits for the answers in the middle of its call, so that it cannot be run again. */
  isWaiting?: boolean;
  /** Aborts the questions: `ask` then rejects with its reason. */
  signal: AbortSignal;
}

/** Asks for the answers to one round. Rejects with an error for the tool if its requests cannot be answered. */
export type AskInput = (round: AskedRound) => Promise<InputAnswers>;

/** Asks the host's `onInput`, one question after the other; `undefined` if the host cannot be asked. */
export function createHostInput(frame: SessionFrame): AskInput | undefined {
  const { options, clock, report } = frame;
  const { onInput } = options;
  if (onInput === undefined) return undefined;
  const reportFailure = (tool: string, reason: string) =>
    report(createProblem("HostListenerFailed", { option: "onInput", tool, reason }));
  // Then a question is a `cancel`.
  const inputMs = () => frame.config().timeouts.inputMs;

  const askOne = async (
    tool: string,
    key: string,
    request: InputRequest,
    signal: AbortSignal,
  ): Promise<InputAnswer> => {
    if ("method" in request) throw new Error(`It asks for ${request.method}, which sessions do not support.`);
    const stop = new AbortController();
    const release = [
      whenAborted(signal, () => stop.abort(signal.reason)),
      clock.after(inputMs(), () => stop.abort(new DOMException("The user did not answer.", "TimeoutError"))),
    ];
    try {
      const ask = async (): Promise<unknown> => onInput({ key, tool, ...request, signal: stop.signal });
      const answer = await abortable(stop.signal, ask);
      if (isAnswer(answer)) return answer;
      reportFailure(tool, "it did not return { action, content }");
    } catch (error) {
      if (!stop.signal.aborted) reportFailure(tool, error instanceof Error ? error.message : String(error));
    } finally {
      for (const end of release) end();
    }
    return { action: "cancel" };
  };

  return async ({ tool, requests, signal }) => {
    const answers: [string, InputAnswer][] = [];
    for (const [key, request] of Object.entries(requests)) {
      signal.throwIfAborted();
      // A copy: the host may change what it is given.
      answers.push([key, await askOne(tool, key, structuredClone(request), signal)]);
      signal.throwIfAborted();
    }
    return settleAnswers(requests, Object.fromEntries(answers));
  };
}

/** Questions with their author in front, so that no server or pack can ask in the name of another. */
export function signRequests(requests: InputRequests, author: string | undefined): InputRequests {
  if (author === undefined) return requests;
  const signed = Object.entries(requests).map(([key, request]) => [
    key,
    "method" in request ? request : { ...request, message: `[${author}] ${request.message}` },
  ]);
  return Object.fromEntries(signed);
}
