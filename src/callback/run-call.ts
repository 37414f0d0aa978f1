import type { Answer } from "../mcp/http/http-answers.ts";
import { timerMs, whenAborted } from "../runtime/abort-listeners.ts";
import type { CallbackCall, CallbackOutcome } from "./answers.ts";
import { createCallResult } from "./answers.ts";
import type { RunningInvocation } from "./running-invocations.ts";

export const failedCall = (errorMessage: string): Answer =>
  createCallResult({ success: false, errorMessage });

/** Of the fault nothing is told: it is the host's own, and the reader is a pack. */
const hostFailure = () => failedCall("The host failed to call the tool.");

/**
 * Dispatches a call and answers with its outcome, at the latest when the client goes away, the invocation ends or the
 * time is over; what a dispatch that goes on regardless then yields is dropped. Never rejects.
 */
export function runCall(
  call: Omit<CallbackCall, "signal">,
  invocation: RunningInvocation,
  dispatch: (call: CallbackCall) => Promise<CallbackOutcome>,
  { client, timeoutMs }: { client: AbortSignal; timeoutMs: number },
): Promise<Answer> {
  const controller = new AbortController();
  return new Promise((resolve) => {
    const settle = (answer: Answer) => {
      clearTimeout(timer);
      invocation.inFlight.delete(endWithInvocation);
      forget();
      resolve(answer);
    };
    const stop = (name: "TimeoutError" | "AbortError", message: string) => {
      settle(failedCall(message));
      controller.abort(new DOMException(message, name));
    };
    const endWithInvocation = () =>
      stop("AbortError", "The invocation ended before the tool did, so the tool was cancelled.");
    const endWithClient = () => stop("AbortError", "The callback was cancelled.");
    const timer = setTimeout(
      () => stop("TimeoutError", `The tool took longer than ${timeoutMs} ms and was cancelled.`),
      timerMs(timeoutMs),
    ).unref();
    invocation.inFlight.add(endWithInvocation);
    const forget = whenAborted(client, endWithClient);
    if (client.aborted) {
      endWithClient();
      return;
    }
    const run = async () => createCallResult(await dispatch({ ...call, signal: controller.signal }));
    run().then(settle, () => settle(hostFailure()));
  });
}
