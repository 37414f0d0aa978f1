// Results of tools, in MCP's own shape. Has no dependencies at run time.
import type { InputRequests, NeededInput } from "./input.ts";
import type { ContentBlock } from "./mcp.ts";

export type * from "./input.ts";
export type { ContentBlock } from "./mcp.ts";

/** How a call of a tool ended, as the host reports it. */
export type TrailblazeVariant =
  | "Success"
  /** The tool or its transport failed. Also any error with an unknown variant. */
  | "ExceptionThrown"
  /** Arguments are missing; `missing` names them. */
  | "MissingRequiredArgs"
  /** The tool refused the request. */
  | "MaestroValidationError"
  /** No further call can succeed: a run of several steps stops. */
  | "FatalError"
  /** Not a failure: the tool asks for input before it can answer. */
  | "InputRequired";

/** The variants that a failing tool can report. */
export type TrailblazeErrorVariant = Exclude<TrailblazeVariant, "Success" | "InputRequired">;

/**
 * `_meta.trailblaze` of a result: data for the host besides the content. Other MCP clients ignore it. Further keys
 * become the `details` of the call.
 */
export type TrailblazeResultMeta = {
  /** Used if `isError` is true. An unknown value counts as `ExceptionThrown`. */
  variant?: TrailblazeErrorVariant;
  /** Names of the missing arguments, with the variant `MissingRequiredArgs`. */
  missing?: string[];
  /** Session memory to set. Applied only if the call succeeded. */
  memoryDelta?: { [name: string]: string };
  /** Session memory to delete. Applied only if the call succeeded. */
  memoryDeletions?: string[];
  [detail: string]: unknown;
};

/** The result of a tool call: MCP's own, with typed `_meta.trailblaze`. */
export type CallToolResult = {
  content: ContentBlock[];
  /** Any JSON. Must match the tool's `outputSchema`, if it has one. Clients of older revisions get only an object. */
  // biome-ignore lint/suspicious/noExplicitAny: callers know the tool's `outputSchema`, and MCP's SDKs have other types
  structuredContent?: any;
  /** True if the tool failed. The first text block is then the error message. Default: false. */
  isError?: boolean;
  _meta?: { trailblaze?: TrailblazeResultMeta; [key: string]: unknown };
};

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
  if (typeof state === "function" || typeof state === "symbol") throw new TypeError("`state` must be JSON.");
  const asked = { requests, ...(state === undefined ? {} : { state }) };
  // Marks the value for each copy of this package. Data from elsewhere cannot have it.
  return Object.defineProperty(asked, Symbol.for("trailblaze.needInput"), { value: true });
}
