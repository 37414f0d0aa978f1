import type { Answer } from "../mcp/http/http-server.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import type { CallbackCall, CallbackOutcome } from "./answers.ts";
import { createCallResult } from "./answers.ts";

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

export const failedCall = (errorMessage: string): Answer =>
  createCallResult({ success: false, errorMessage });

/** A general error: the host's own errors are not revealed to packs. */
const hostFailure = () => failedCall("The host failed to call the tool.");

/**
 * Dispatches a call and answers with its outcome, at the latest on a disconnect, at the end of the invocation or on a
 * timeout; a later outcome is dropped. Never rejects.
 */
export function runCall(
  call: Omit<CallbackCall, "signal" | "limit">,
  invocation: RunningInvocation,
  dispatch: (call: CallbackCall) => Promise<CallbackOutcome>,
  { client, timeoutMs }: { client: AbortSignal; timeoutMs: number },
): Promise<Answer> {
  const controller = new AbortController();
  return new Promise((resolve) => {
    const settle = (answer: Answer) => {
      limit.end();
      invocation.inFlight.delete(endWithInvocation);
      forget();
      resolve(answer);
    };
    const stop = (name: "TimeoutError" | "AbortError", message: string) => {
      settle(failedCall(message));
      controller.abort(new DOMException(message, name));
    };
    const endWithInvocation = () => stop("AbortError", "The tool was canceled because the invocation ended.");
    const endWithClient = () => stop("AbortError", "The callback was canceled.");
    const onOver = () =>
      stop("TimeoutError", `The tool did not answer within ${timeoutMs} ms and was canceled.`);
    const limit = new TimeLimit(timeoutMs, onOver, { keepsAlive: false });
    invocation.inFlight.add(endWithInvocation);
    const forget = whenAborted(client, endWithClient);
    if (client.aborted) {
      endWithClient();
      return;
    }
    const run = async () => createCallResult(await dispatch({ ...call, limit, signal: controller.signal }));
    run().then(settle, () => settle(hostFailure()));
  });
}
