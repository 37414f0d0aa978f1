import type { Answer, TransportFault } from "../mcp/http/http-answers.ts";

const formatResult = (result: object): string => JSON.stringify({ result });

/** A request that was understood and cannot be done, or, with another status, one that was not or may not be. */
export function createError(
  message: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, body: formatResult({ type: "error", message }) };
}

/** Throws where the outcome is none, or its structured content is no data. */
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

/** The answer to a request that is wrong as HTTP already. */
export function createTransportRefusal(
  fault: Exclude<TransportFault, "busy">,
  limits: { maxBodyBytes: number; bodyTimeoutMs: number },
): Answer {
  switch (fault) {
    case 400:
      return createError("The request is not valid HTTP.", 400);
    case 405:
      return createError("Only POST is understood here.", 405, { allow: "POST" });
    case 408:
      return createError(`The request took too long; a body has ${limits.bodyTimeoutMs} ms.`, 408);
    case 413:
      return createError(`The body is larger than ${limits.maxBodyBytes} bytes.`, 413);
    case 431:
      return createError("The headers are too large.", 431);
    case 503:
      return createError("The session is closing.", 503);
  }
}

/** A call of a tool that a server asked for while it was called itself. */
export interface CallbackCall {
  /** The invocation that the callback belongs to. */
  invocationId: string;
  /** Of the new call: one more than its invocation's. */
  depth: number;
  /** Hostile: any text. */
  toolName: string;
  /** Parsed, but not yet checked against a schema. No key in it is `__proto__`. */
  arguments: Record<string, unknown>;
  /** Aborts when the answer is no longer awaited: too late, the client gone, or the invocation, the server or the session over. */
  signal: AbortSignal;
}

/** What became of it. An unknown tool and arguments that break its schema are failures like any other. */
export type CallbackOutcome =
  | { success: true; text: string; structuredContent?: unknown }
  | { success: false; errorMessage: string; text?: string };
