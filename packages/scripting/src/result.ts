// Results of tools, in MCP's own shape. Has no dependencies at run time.
import { createNeededInput, type InputRequests, type NeededInput } from "./input.ts";
import type { ContentBlock } from "./mcp.ts";
import type { CallToolResult, TrailblazeErrorVariant, TrailblazeResultMeta } from "./results.ts";

export type {
  FormProperty,
  FormSchema,
  InputAnswer,
  InputAnswers,
  InputRequest,
  InputRequests,
  NeededInput,
} from "./input.ts";
export type { ContentBlock } from "./mcp.ts";
export type { CallToolResult, TrailblazeErrorVariant, TrailblazeResultMeta } from "./results.ts";

/** A success, with a string or with blocks of content. */
export function success(
  content: string | readonly ContentBlock[],
  { structuredContent }: { structuredContent?: unknown } = {},
): CallToolResult {
  return {
    content: typeof content === "string" ? [{ type: "text", text: content }] : [...content],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    isError: false,
  };
}

/** A failure, with a message for models and people. Its variant is `ExceptionThrown`. */
export function error(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

function failure(
  message: string,
  trailblaze: TrailblazeResultMeta & { variant: TrailblazeErrorVariant },
): CallToolResult {
  return { ...error(message), _meta: { trailblaze } };
}

/** A failure after which no further call can succeed: a run of several steps stops. */
export function fatalError(message: string): CallToolResult {
  return failure(message, { variant: "FatalError" });
}

/** A failure because arguments are missing; their names allow the caller to retry. */
export function missingRequiredArgs(names: readonly string[], message?: string): CallToolResult {
  const text =
    message ?? `Missing required ${names.length === 1 ? "argument" : "arguments"}: ${names.join(", ")}`;
  return failure(text, { variant: "MissingRequiredArgs", missing: [...names] });
}

/** A failure because the tool refuses the request. Its variant is `MaestroValidationError`. */
export function validationError(message: string): CallToolResult {
  return failure(message, { variant: "MaestroValidationError" });
}

/**
 * Asks the client's user, or the client, before the handler can answer. Return it from the handler of a tool, prompt or
 * resource: the host asks, and then runs the handler again from its beginning, with the answers in `context.input` and
 * with `state` (JSON) in `context.state`. Clients can read `state`, but they cannot change it. Throws a `TypeError` for a
 * `state` that is a function or a symbol; the host checks the rest, and an invalid request is a failure of the tool.
 */
export function needInput(requests: InputRequests, { state }: { state?: unknown } = {}): NeededInput {
  return createNeededInput(requests, state);
}
