// Results of tools, in MCP's own shape. Imports nothing at run time.
import type { ContentBlock } from "./mcp.ts";
import type { CallToolResult, TrailblazeErrorVariant, TrailblazeResultMeta } from "./results.ts";

export type { ContentBlock } from "./mcp.ts";
export type { CallToolResult, TrailblazeErrorVariant, TrailblazeResultMeta } from "./results.ts";

/** A success: a text, or blocks of content. */
export function success(
  content: string | readonly ContentBlock[],
  { structuredContent }: { structuredContent?: { [key: string]: unknown } } = {},
): CallToolResult {
  return {
    content: typeof content === "string" ? [{ type: "text", text: content }] : [...content],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    isError: false,
  };
}

/** A failure that models and people read about: `ExceptionThrown` to a session. */
export function error(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

function failure(
  message: string,
  trailblaze: TrailblazeResultMeta & { variant: TrailblazeErrorVariant },
): CallToolResult {
  return { ...error(message), _meta: { trailblaze } };
}

/** A failure after which nothing can succeed: a run of several steps stops. */
export function fatalError(message: string): CallToolResult {
  return failure(message, { variant: "FatalError" });
}

/** Arguments are missing: their names, so that the caller can try again. */
export function missingRequiredArgs(names: readonly string[], message?: string): CallToolResult {
  const text =
    message ?? `Missing required ${names.length === 1 ? "argument" : "arguments"}: ${names.join(", ")}`;
  return failure(text, { variant: "MissingRequiredArgs", missing: [...names] });
}

/** The call was understood and refused: `MaestroValidationError` to a session. */
export function validationError(message: string): CallToolResult {
  return failure(message, { variant: "MaestroValidationError" });
}
