// The functions of a host that calls use: listeners of progress and logs, and `onInput`, which asks the user.
import { isRecord } from "../data/parse-json.ts";
import type { ServerLog } from "../mcp/client/server-calls.ts";
import { createProblem } from "../problems/index.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import type { InputAnswer } from "../runtime/handler-context.ts";
import { type AskInput, settleAnswers } from "../runtime/input-rounds.ts";
import { clock } from "../runtime/time-limit.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { SessionFrame } from "./session-frame.ts";
import type { SessionMemory } from "./session-memory.ts";

export type { ServerLog as CallLog } from "../mcp/client/server-calls.ts";

/** A log message of a tool. */
export interface ToolLog {
  /** The advertised name, or the server's name if the message does not belong to a call. */
  tool: string;
  level: string;
  data: unknown;
}

/** A progress report of a tool; `progress` and `total` have the same unit. */
export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** The functions that a host passes with a call. What one throws or rejects is reported as `HostListenerFailed`. */
export interface Listeners {
  /** Called for each progress report of this call, in order, until it ends. Calls that the tool makes are not included. */
  onProgress?: ((progress: ToolProgress) => void) | undefined;
  /**
   * Called for each log message of this call and of the calls that the tool makes, in order, until it ends. Messages of legacy
   * servers and over stdio do not name their call, and go to all open calls of their server.
   */
  onLog?: ((entry: ServerLog) => void) | undefined;
}

/** Limits of a call, of getting a prompt or of reading a resource. */
export interface RequestOptions {
  /** Cancels the request, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. Default: `timeouts.callMs` of the server, or else of the config. */
  timeoutMs?: number | undefined;
}

/** Limits of one call, and its progress reports. */
export interface CallOptions extends RequestOptions, Listeners {}

/** They hear redacted events as long as the call is open. What they throw is reported once per tool and listener. */
export function listen(
  { onProgress, onLog }: Listeners,
  tool: string,
  memory: SessionMemory,
  reportOnce: SessionFrame["reportOnce"],
  isOpen: () => boolean,
): Listeners {
  /** Calls a listener at once, and waits only to see whether it rejects. */
  const tell = async (option: keyof Listeners, listener: () => unknown): Promise<void> => {
    try {
      if (isOpen()) await listener();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      reportOnce(createProblem("HostListenerFailed", { option, tool, reason }), `${option} ${tool}`);
    }
  };
  return {
    onProgress:
      onProgress &&
      (({ message, ...step }) => {
        const text = message === undefined ? {} : { message: memory.redact(message) };
        void tell("onProgress", () => onProgress({ ...step, ...text }));
      }),
    onLog: onLog && ((entry) => void tell("onLog", () => onLog(memory.redact(entry)))),
  };
}

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

const answerActions: readonly unknown[] = ["accept", "decline", "cancel"];

/** Asks the host's `onInput`, one question after the other; `undefined` if the host cannot be asked. */
export function createHostInput(frame: SessionFrame): AskInput | undefined {
  const { onInput } = frame.options;
  if (onInput === undefined) return undefined;
  return async ({ tool, requests, signal: ofCall }) => {
    const answers: Record<string, unknown> = {};
    for (const [key, request] of Object.entries(requests)) {
      ofCall.throwIfAborted();
      if ("method" in request)
        throw new Error(`It asks for ${request.method}, which sessions do not support.`);
      const stop = new AbortController();
      const late = new DOMException("The user did not answer.", "TimeoutError");
      const endTime = clock.after(frame.config().timeouts.inputMs, () => stop.abort(late));
      const signal = AbortSignal.any([ofCall, stop.signal]);
      // A copy: the host may change what it is given.
      const question = { key, tool, ...structuredClone(request), signal };
      const ask = async (): Promise<unknown> => {
        const answer: unknown = await onInput(question);
        const { action, content = {} } = isRecord(answer) ? answer : ({} as Record<string, unknown>);
        if (answerActions.includes(action) && isRecord(content)) return { action, content };
        throw new Error("it did not return { action, content }");
      };
      answers[key] = await abortable(signal, ask).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (!signal.aborted)
          frame.report(createProblem("HostListenerFailed", { option: "onInput", tool, reason }));
        return { action: "cancel" };
      });
      endTime();
      ofCall.throwIfAborted();
    }
    return settleAnswers(requests, answers);
  };
}

/** A call of a tool that has not begun. Its strings are those of models and authors, and not trusted. */
export interface PendingCall {
  /** The advertised name. */
  tool: string;
  /** A copy, with those that the config fixes. They are not checked against the tool's schema yet. */
  arguments: Readonly<Record<string, unknown>>;
  /** What the tool claims to do. */
  annotations: Readonly<Record<string, unknown>> | undefined;
  source: ToolSource;
  /** Aborts when the call or the session has ended. */
  signal: AbortSignal;
}

/** Lets a call run, denies it, or answers it with what a handler may return. */
export type CallDecision = "allow" | "deny" | { deny: string } | { result: unknown };

/** Decides about a call. Without a decision, the config's `calls.ask` says whether the user is asked. */
export type OnCall = (
  call: PendingCall,
  // biome-ignore lint/suspicious/noConfusingVoidType: of functions that return nothing
) => CallDecision | undefined | void | Promise<CallDecision | undefined | void>;

/** What the host's `onCall` decides; `undefined` to leave it to the config. Rejects only when the call ends. */
export async function askHost(
  { options: { onCall }, reportOnce }: SessionFrame,
  call: PendingCall,
): Promise<CallDecision | undefined> {
  if (onCall === undefined) return undefined;
  let reason = 'it returned neither "allow", "deny", { deny }, { result } nor nothing';
  try {
    const decision: unknown = await abortable(call.signal, async () => onCall(call));
    if (decision === undefined || decision === "allow" || decision === "deny") return decision;
    if (isRecord(decision) && ("deny" in decision ? typeof decision.deny === "string" : "result" in decision))
      return decision as CallDecision;
  } catch (error) {
    call.signal.throwIfAborted();
    reason = error instanceof Error ? error.message : String(error);
  }
  reportOnce(createProblem("HostListenerFailed", { option: "onCall", tool: call.tool, reason }));
  return "deny";
}
