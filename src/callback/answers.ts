import { stringifyExactly } from "../data/exact-integers.ts";
import type { Answer, Refusal } from "../mcp/http/http-server.ts";
import type { TimeLimit } from "../runtime/time-limit.ts";

const formatResult = (result: object): string => stringifyExactly({ result });

/** An error answer. Status 200: the request is valid but cannot be executed. */
export function createError(
  message: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, body: formatResult({ type: "error", message }) };
}

/** The answer with a call's outcome. Throws if the outcome is invalid or its structured content is not JSON. */
export function createCallResult(outcome: CallbackOutcome): Answer {
  const result = outcome.success
    ? { success: true, text_content: outcome.text, error_message: "" }
    : { success: false, text_content: outcome.text ?? "", error_message: outcome.errorMessage };
  const structured = outcome.success ? (outcome.structuredContent ?? undefined) : undefined;
  return {
    status: 200,
    body: formatResult({ type: "call_tool_result", ...result, structured_content: structured }),
  };
}

/** The answer to a request that is invalid HTTP or exceeds a limit. */
export function createTransportRefusal(
  reason: Refusal,
  limits: { maxBodyBytes: number; bodyTimeoutMs: number },
): Answer {
  const messages = {
    400: "The request is not valid HTTP.",
    405: "Method not allowed. Use POST.",
    408: `The request timed out; it must arrive within ${limits.bodyTimeoutMs} ms.`,
    413: `The body exceeds ${limits.maxBodyBytes} bytes.`,
    431: "The headers are too large.",
  };
  return createError(messages[reason], reason, reason === 405 ? { allow: "POST" } : {});
}

/** A tool call that a server makes during one of its own calls. */
export interface CallbackCall {
  /** The invocation that makes the call. */
  invocationId: string;
  /** The depth of the new call: one more than that of the invocation. */
  depth: number;
  /** Hostile: any string. */
  toolName: string;
  /** Parsed, but not validated against a schema. No key is `__proto__`. */
  arguments: Record<string, unknown>;
  /** Aborts on a timeout, on a disconnect, or when the invocation, the server or the session has ended. */
  signal: AbortSignal;
  /** Its time, which stands still while the user is asked. */
  limit: TimeLimit;
}

/** The outcome of a call. Unknown tools and invalid arguments are failures like any other. */
export type CallbackOutcome =
  | { success: true; text: string; structuredContent?: unknown }
  | { success: false; errorMessage: string; text?: string };
