// Results of tools, in MCP's own shape. Imports nothing at run time.
import type { ContentBlock } from "./mcp.ts";
import type { CallToolResult, TrailblazeErrorVariant, TrailblazeResultMeta } from "./results.ts";

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
